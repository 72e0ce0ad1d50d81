package dev.rackcall.sandbox;

import dev.rackcall.sandbox.os.Userfault;
import dev.rackcall.shm.os.Futex;
import dev.rackcall.shm.os.OsException;
import dev.rackcall.shm.os.file.Mapping;
import dev.rackcall.shm.os.file.SharedFile;
import dev.rackcall.shm.os.socket.Message;
import dev.rackcall.shm.os.socket.UnixSocket;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The holder's side of one sealed process: its userfaultfd, the memory that they talk through, and the seals. Owned by one thread. */
final class HolderSession implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(HolderSession.class);
    private static final int SPINS = 20_000;
    private static final int ROUNDS = 1 << 20;
    private static final long SLEEP_NANOS = TimeUnit.MILLISECONDS.toNanos(100);
    private static final int DESCRIPTORS = 2048;
    /** The process waits for its receiver before, ten seconds at most: it must not find its holder gone when it has just given up what it cannot have back. */
    private static final Duration READY_BOUND = Duration.ofSeconds(30);

    private final UnixSocket socket;
    private final byte[] session;
    private final SealedProcesses.Held held;
    /** The process's, for all its sessions. */
    private final Userfault userfault;

    private final SealedMemoryCheck check;
    private final long address;
    private final long bytes;
    private final long pageBytes;
    private final int arenaId;
    /** What follows is set by {@link #open}, as far as it gets. */
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

    /** Takes a sealed process on, whose first message this is. */
    HolderSession(UnixSocket socket, Message hello, byte[] session, SealedProcesses.Held held) throws IOException {
        this.socket = socket;
        this.session = session;
        this.held = held;
        this.userfault = held.userfault;
        ByteBuffer fields = HolderMessage.fields(hello);
        address = fields.getLong();
        bytes = fields.getLong();
        pageBytes = fields.getLong();
        arenaId = fields.getInt();
        if (bytes <= 0
                || address < 0
                || address > Long.MAX_VALUE - bytes
                || Long.bitCount(pageBytes) != 1
                || pageBytes < 4096
                || address % pageBytes != 0
                || bytes % pageBytes != 0) {
            throw new IOException("an arena of " + bytes + " bytes at " + address + " cannot be sealed");
        }
        check = new SealedMemoryCheck(socket.peer().pid(), address, bytes);
    }

    /** Takes over the last two descriptors of the first message; {@link #close} gives them back, also if this fails. */
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
        held.occupy(address, bytes);
        occupied = true;
        userfault.register(address, bytes);
        registered = true;
        // So that looking there cannot fail for want of memory.
        requestsFile.reserve(0, HolderLayout.REQUEST_BYTES);
        requests = requestsFile.map();
        answersFile =
                SharedFile.memfdForSomeWriters("rackcall-seals", HolderLayout.RING + Seals.ringBytes(DESCRIPTORS));
        answersFile.reserve(0, answersFile.bytes());
        answers = answersFile.map();
        answersFile.shutOutWriters();
    }

    /** The receiver reads no more. */
    synchronized void receiverGone() {
        receiverGone = true;
        notifyAll();
    }

    /**
     * Keeps what is sealed sealed although the process has hung up: as long as its receiver may still read. Not only as long as the process lives: one
     * that it has started with CLONE_VM has the same memory, and may live on.
     */
    synchronized void outlast() throws InterruptedException {
        while (marks != null && !receiverGone) {
            wait(TimeUnit.NANOSECONDS.toMillis(SLEEP_NANOS));
        }
    }

    /** Ends it from outside. */
    void hangUp() {
        socket.close();
    }

    void welcome() {
        socket.send(HolderMessage.accepted(session), answersFile.fd());
    }

    /** Once the process asks: whether anything is in the way. It gives up nothing before that. */
    void check() throws IOException {
        HolderMessage.expect(socket, HolderMessage.CHECK, 0);
        synchronized (this) {
            check.requireFit(arena, userfault, pageBytes);
            checked = true;
        }
    }

    /** Tells the process that nothing is. */
    void fit() {
        socket.send(HolderMessage.bare(HolderMessage.CHECK));
    }

    /** Once the process says that it is ready: whether it can lift seals in a way that can be seen. Nothing is sealed before, so a receiver that has joined has nothing to believe. */
    void verify() throws IOException {
        HolderMessage.expect(socket, HolderMessage.READY, 0, READY_BOUND);
        synchronized (this) {
            long offset = check.fileOffset();
            check.requireLockedDown();
            // What it was found fit by may have changed before that.
            check.requireFit(arena, userfault, pageBytes);
            if (check.fileOffset() != offset) {
                throw new IOException("the memory that is to be sealed has changed");
            }
            if (receiver != 0) {
                check.requireNoOther(receiver);
            }
        }
    }

    /** Tells the process so. */
    void ready() {
        socket.send(HolderMessage.bare(HolderMessage.READY));
    }

    /** A receiver joins: from now on there can be seals. Called by the receiver's thread. */
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
        // First what may fail: who has marks has a receiver, whose end is waited for.
        socket.send(HolderMessage.bare(HolderMessage.MARKS), marksOfReceiver.fd());
        marks = marksOfReceiver.mapReadOnly();
        marksFile = marksOfReceiver;
        receiver = receiverPid;
        notifyAll();
    }

    SharedFile answersFile() {
        return answersFile;
    }

    /** Serves the process until it is gone. */
    void serve() throws InterruptedException {
        if (!awaitReceiver()) {
            return;
        }
        HolderRequests served = served();
        MemorySegment memory = requests.memory();
        int last = 0;
        int idle = 0;
        for (int rounds = 1; ; rounds++) {
            if (rounds % ROUNDS == 0 && socket.drain() < 0) {
                // Somebody else who has that memory could go on asking.
                return;
            }
            int number = HolderLayout.number(memory);
            if (number != last) {
                last = number;
                idle = 0;
                served.answer(number);
            } else if (++idle < SPINS) {
                Thread.onSpinWait();
            } else if (!Futex.await(memory, HolderLayout.NUMBER, last, SLEEP_NANOS) && socket.drain() < 0) {
                return;
            }
        }
    }

    /** False if the process is gone before its receiver is there. */
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
        SealTable table = new SealTable(
                answers.memory().asSlice(HolderLayout.RING),
                marks.memory(),
                userfault,
                arenaId,
                address,
                bytes,
                pageBytes);
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
            // Not before: the next session of this memory must not have its pages opened by the end of this one.
            held.vacate(address);
        }
        close(requests, requestsFile, answers, answersFile, arena, marks, marksFile);
    }

    private void reopen() {
        try {
            userfault.unregister(address, bytes);
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
