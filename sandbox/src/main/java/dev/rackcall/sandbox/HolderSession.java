package dev.rackcall.sandbox;

import dev.rackcall.sandbox.os.Userfault;
import dev.rackcall.shm.os.OsException;
import dev.rackcall.shm.os.file.Mapping;
import dev.rackcall.shm.os.file.SharedFile;
import dev.rackcall.shm.os.socket.Message;
import dev.rackcall.shm.os.socket.UnixSocket;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The holder's side of one session: the process's userfaultfd, the shared memory for requests and answers, and the
 * seals. Owned by one thread. */
final class HolderSession implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(HolderSession.class);
    private static final int ROUNDS = 1 << 14;
    private static final long SLEEP_NANOS = TimeUnit.MILLISECONDS.toNanos(100);
    private static final int DESCRIPTORS = 2048;
    /** The process first waits up to ten seconds for its receiver. The holder must not time out while the process locks
     * itself down permanently. */
    private static final Duration READY_BOUND = Duration.ofSeconds(30);

    private final UnixSocket socket;
    private final byte[] session;
    private final SealedProcesses.Held held;
    /** Shared by all sessions of the process. */
    private final Userfault userfault;

    private final SealedMemoryCheck check;
    private final SealedArea area;
    /** {@link #open} sets this field and the following ones; if it fails, the rest stay unset. */
    private boolean occupied;

    private boolean registered;

    private SharedFile arena;
    private SharedFile requestsFile;
    private Mapping requests;
    private SharedFile answersFile;
    private Mapping answers;
    private Mapping marks;
    private SharedFile marksFile;
    /** Whether a receiver may join. */
    private boolean checked;

    /** Process id of the receiver that has joined; 0: none. */
    private int receiver;

    private boolean receiverGone;

    /** Begins the session of the process that sent this first message. */
    HolderSession(UnixSocket socket, Message hello, byte[] session, SealedProcesses.Held held) throws IOException {
        this.socket = socket;
        this.session = session;
        this.held = held;
        this.userfault = held.userfault;
        area = SealedArea.read(HolderMessage.fields(hello));
        check = new SealedMemoryCheck(socket.peer().pid(), area);
    }

    /** Takes over the last two descriptors of the first message. {@link #close} closes them, even if this fails. */
    void open(Message hello) throws IOException {
        int descriptors = hello.fds().length;
        requestsFile = hello.adopt(descriptors - 2);
        arena = hello.adopt(descriptors - 1);
        if (!requestsFile.isSealed() || requestsFile.bytes() < HolderLayout.REQUEST_BYTES) {
            throw new IOException("the memory for requests is too short, or could shrink");
        }
        if (!arena.isSealed() || !arena.areWritersShutOut()) {
            throw new IOException("others may still map the arena's memory for writing; shut writers out first");
        }
        held.occupy(area.address(), area.bytes());
        occupied = true;
        userfault.register(area.address(), area.bytes());
        registered = true;
        // Reserved, so reading it cannot fail for lack of memory.
        requestsFile.reserve(0, HolderLayout.REQUEST_BYTES);
        requests = requestsFile.map();
        answersFile =
                SharedFile.memfdForSomeWriters("rackcall-seals", HolderLayout.RING + Seals.ringBytes(DESCRIPTORS));
        answersFile.reserve(0, answersFile.bytes());
        answers = answersFile.map();
        answersFile.shutOutWriters();
    }

    /** The receiver has hung up. */
    synchronized void receiverGone() {
        receiverGone = true;
        notifyAll();
    }

    /**
     * Keeps the scopes of a process that has hung up sealed until its receiver has hung up, too. Even the end of the
     * process is too early: a child made with CLONE_VM shares its memory and may outlive it.
     */
    synchronized void outlast() throws InterruptedException {
        while (marks != null && !receiverGone) {
            wait(TimeUnit.NANOSECONDS.toMillis(SLEEP_NANOS));
        }
    }

    /** Ends the session from another thread. */
    void hangUp() {
        socket.close();
    }

    void welcome() {
        socket.send(HolderMessage.accepted(session), answersFile.fd());
    }

    /** Waits for the process's CHECK message, then checks the process for obstacles. It has given up nothing yet. */
    void check() throws IOException {
        HolderMessage.expect(socket, HolderMessage.CHECK, 0);
        synchronized (this) {
            check.requireFit(arena, userfault);
            checked = true;
        }
    }

    /** Tells the process that there are no obstacles. */
    void fit() {
        socket.send(HolderMessage.bare(HolderMessage.CHECK));
    }

    /** Waits for the process to be ready, then checks that it has no visible means to lift seals. Nothing is sealed
     * before this check, so a receiver that has joined trusts nothing yet. */
    void verify() throws IOException {
        HolderMessage.expect(socket, HolderMessage.READY, 0, READY_BOUND);
        synchronized (this) {
            long offset = check.fileOffset();
            check.requireLockedDown();
            // Repeated, because the process may have changed since the first check.
            check.requireFit(arena, userfault);
            if (check.fileOffset() != offset) {
                throw new IOException("the memory that is to be sealed has changed");
            }
            if (receiver != 0) {
                check.requireNoOther(receiver);
            }
        }
    }

    /** Tells the process that it passed the check. */
    void ready() {
        socket.send(HolderMessage.bare(HolderMessage.READY));
    }

    /** Adds the receiver. Seals can exist from now on. Called by the receiver's thread. */
    synchronized void join(int receiverPid, SharedFile marksOfReceiver, SharedFile arenaOfReceiver, long offset)
            throws IOException {
        if (!checked) {
            throw new IOException("the sealed process is not ready");
        }
        if (marks != null) {
            throw new IOException("the session has a receiver already");
        }
        if (!arena.isSameFile(arenaOfReceiver) || offset != check.fileOffset()) {
            throw new IOException("the receiver maps another arena");
        }
        if (!marksOfReceiver.isSealed()
                || !marksOfReceiver.areWritersShutOut()
                || marksOfReceiver.bytes() < Seals.marksBytes(DESCRIPTORS)) {
            throw new IOException("the receiver's memory for marks is too short, or others could write it");
        }
        check.requireNoOther(receiverPid);
        marksOfReceiver.reserve(0, Seals.marksBytes(DESCRIPTORS));
        // Sent first, because sending may fail: a session with marks waits for the end of its receiver.
        socket.send(HolderMessage.bare(HolderMessage.MARKS), marksOfReceiver.fd());
        marks = marksOfReceiver.mapReadOnly();
        marksFile = marksOfReceiver;
        receiver = receiverPid;
        notifyAll();
    }

    SharedFile answersFile() {
        return answersFile;
    }

    /** Serves the process until it hangs up. */
    void serve() throws InterruptedException {
        if (!awaitReceiver()) {
            return;
        }
        HolderRequests served = served();
        HolderTurns turns = new HolderTurns(answers.memory(), requests.memory());
        MemorySegment memory = requests.memory();
        int last = 0;
        for (int rounds = 1; ; rounds++) {
            if (rounds % ROUNDS == 0 && socket.drain() < 0) {
                // The process has hung up, but another one that shares its memory could send requests forever.
                return;
            }
            if (turns.await(last, SLEEP_NANOS)) {
                last = HolderLayout.number(memory);
                turns.follow();
                served.answer();
                turns.publish(last);
            } else if (socket.drain() < 0) {
                return;
            }
        }
    }

    /** Returns false if the process hangs up before its receiver joins. */
    private synchronized boolean awaitReceiver() throws InterruptedException {
        while (marks == null) {
            wait(TimeUnit.NANOSECONDS.toMillis(SLEEP_NANOS));
            if (marks == null && socket.drain() < 0) {
                return false;
            }
        }
        return true;
    }

    private synchronized HolderRequests served() {
        SealTable table = new SealTable(answers.memory().asSlice(HolderLayout.RING), marks.memory(), userfault, area);
        return new HolderRequests(socket.peer().pid(), table, requests.memory(), answers.memory());
    }

    @Override
    public synchronized void close() {
        if (registered) {
            registered = false;
            reopen();
        }
        if (occupied) {
            occupied = false;
            // Only after the pages are open: this session must not open pages of the next one.
            held.vacate(area.address());
        }
        close(requests, requestsFile, answers, answersFile, arena, marks, marksFile);
    }

    private void reopen() {
        try {
            userfault.unregister(area.address(), area.bytes());
        } catch (OsException | IllegalStateException e) {
            // The process has ended, and its memory with it.
            LOG.debug("the pages of a sealed process stay as they are: {}", e.getMessage());
        }
    }

    private static void close(AutoCloseable... opened) {
        for (AutoCloseable each : opened) {
            try {
                if (each != null) {
                    each.close();
                }
            } catch (Exception e) {
                throw new IllegalStateException("closing " + each, e);
            }
        }
    }
}
