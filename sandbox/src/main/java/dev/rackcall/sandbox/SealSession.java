package dev.rackcall.sandbox;

import dev.rackcall.sandbox.os.Lockdown;
import dev.rackcall.sandbox.os.UnsupportedFeatureException;
import dev.rackcall.sandbox.os.Userfault;
import dev.rackcall.shm.Arena;
import dev.rackcall.shm.os.OsException;
import dev.rackcall.shm.os.Uid;
import dev.rackcall.shm.os.file.SharedFile;
import dev.rackcall.shm.os.socket.Message;
import dev.rackcall.shm.os.socket.UnixSocket;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;

/**
 * One end of enforced seals: the connection of a sealed process, or of its receiver, to the {@link SealHolder}. The
 * sealed process gives the session's number to the receiver, which joins with it.
 *
 * <p><b>What the sealed process gives up permanently:</b> the arena stays mapped until the process ends, children do
 * not inherit it, and no thread may use userfaultfd or io_uring or undo this; see {@link Lockdown}. Therefore one
 * holder holds all seals of a process, which can no longer hold seals itself. Afterwards not even native code of the
 * process can change a sealed scope. A process that was hostile before can keep a means to write (another process that
 * maps the memory, a page pinned for a device); take snapshots of the arguments of such clients.
 */
public final class SealSession implements AutoCloseable {
    private final UnixSocket socket;
    private final Arena arena;
    private final long pageBytes;
    private final byte[] number;
    private final Deque<AutoCloseable> opened = new ArrayDeque<>();
    private MemorySegment requests;
    private MemorySegment answers;
    /** The holder's message that the receiver has joined, if it arrived before this side was ready; else null. */
    private Message joined;

    private SealSession(UnixSocket socket, Arena arena, long pageBytes, byte[] number) {
        this.socket = socket;
        this.arena = arena;
        this.pageBytes = pageBytes;
        this.number = number.clone();
    }

    // ---- the sealed process

    /** Asks the receiver to join a session. */
    @FunctionalInterface
    public interface Invitation {
        /** The receiver joins later. */
        Invitation NONE = number -> {};

        /**
         * Waits for the receiver to join.
         *
         * @param number the session's number. Any process that has it can join, so give it only to the receiver
         * @throws RuntimeException if the receiver does not join; then the process has given up nothing
         */
        void send(byte[] number);
    }

    /**
     * Hands the seals of an arena over to a holder. Before the process gives up anything, the holder checks it for
     * obstacles and the receiver joins. If either fails, the process is as before, except that the file can no longer
     * be mapped for writing.
     *
     * @param holder the path of the holder's socket
     * @param arena the arena, mapped by this process once and permanently
     * @param file the file of its memory, made by {@link SharedFile#memfdForSomeWriters}; all writers must have mapped
     * it before, because later ones are shut out
     * @param invitation invites the receiver; its exceptions are passed on
     * @throws UnsupportedFeatureException if this kernel lacks userfaultfd, mseal or seccomp filters, or forbids them
     * @throws SealException if no holder serves there, or it refuses
     */
    public static SealSession open(Path holder, Arena arena, SharedFile file, Invitation invitation) {
        synchronized (ChosenHolder.LOCK) {
            if (!ChosenHolder.isChosen()) {
                // One session at a time: the first sends the process's only userfaultfd, and later ones must find it at
                // the holder.
                return connected(holder, arena, file, invitation);
            }
        }
        // The choice is permanent and needs no lock, so sessions do not wait for each other's receivers.
        return connected(holder, arena, file, invitation);
    }

    private static SealSession connected(Path holder, Arena arena, SharedFile file, Invitation invitation) {
        UnixSocket socket = connect(holder);
        try {
            ChosenHolder.require(holder);
            file.shutOutWriters();
            return open(socket, arena, file, holder, invitation);
        } catch (IOException | OsException e) {
            socket.close();
            throw new SealException(
                    "the holder at " + holder + " cannot hold the seals of " + arena + ": " + e.getMessage(), e);
        } catch (RuntimeException e) {
            socket.close();
            throw e;
        }
    }

    private static SealSession open(UnixSocket socket, Arena arena, SharedFile file, Path holder, Invitation invitation)
            throws IOException {
        MemorySegment memory = arena.memory();
        try (SharedFile requests = SharedFile.memfd("rackcall-seal-requests", HolderLayout.REQUEST_BYTES)) {
            requests.reserve(0, HolderLayout.REQUEST_BYTES);
            // Makes the page present, so the holder can check whether its userfaultfd closes the page.
            memory.get(ValueLayout.JAVA_BYTE, 0);
            byte[] hello = HolderMessage.sealer(SealedArea.of(arena, file.pageBytes()));
            if (ChosenHolder.isChosen()) {
                socket.send(hello, requests.fd(), file.fd());
            } else {
                try (Userfault userfault = Userfault.open()) {
                    socket.send(hello, userfault.fd(), requests.fd(), file.fd());
                }
            }
            Message accepted = HolderMessage.expect(socket, HolderMessage.ACCEPTED, 1);
            SealSession session = new SealSession(
                    socket, arena, file.pageBytes(), HolderMessage.session(HolderMessage.fields(accepted)));
            try {
                session.requests = session.keep(requests.map()).memory();
                session.answers = session.mapAnswers(accepted);
                socket.send(HolderMessage.bare(HolderMessage.CHECK));
                HolderMessage.expect(socket, HolderMessage.CHECK, 0);
                invitation.send(session.number());
                session.lockDown(holder);
                return session;
            } catch (IOException | RuntimeException | Error e) {
                session.close();
                throw e;
            }
        }
    }

    private void lockDown(Path holder) throws IOException {
        Lockdown.fix(arena.memory().address(), arena.memory().byteSize());
        if (!ChosenHolder.isChosen()) {
            Lockdown.forbidLifting();
            ChosenHolder.choose(holder);
        }
        socket.send(HolderMessage.bare(HolderMessage.READY));
        Message answer = HolderMessage.expect(socket);
        if (HolderMessage.isOf(answer, HolderMessage.MARKS, 1)) {
            joined = answer;
            answer = HolderMessage.expect(socket);
        }
        HolderMessage.require(answer, HolderMessage.READY, 0);
    }

    /** The number by which the receiver joins. Any process that has it can join, so give it only to the receiver. */
    public byte[] number() {
        return number.clone();
    }

    /**
     * Waits for the receiver to join and returns the seals.
     *
     * @param batch as in {@link SealSpec#batch}
     * @throws SealException if the receiver has not joined in this time
     */
    public Seals seals(Duration patience, int batch) {
        try {
            Message message = joined != null ? joined : HolderMessage.expect(socket, HolderMessage.MARKS, 1, patience);
            joined = null;
            SharedFile marks = keep(message.adopt(0));
            MemorySegment marked = keep(marks.mapReadOnly()).memory();
            RemoteSeals authority = new RemoteSeals(requests, answers, marked, pageBytes, this);
            return Seals.of(arena, authority, batch);
        } catch (IOException | OsException e) {
            throw new SealException("no receiver has joined the seals of " + arena + ": " + e.getMessage(), e);
        }
    }

    // ---- the receiver

    /**
     * Joins the session of a process that sends sealed scopes.
     *
     * @param session its {@link #number}
     * @param arena the same arena, as this process maps it
     * @param file its memory
     * @param fileOffset where the arena begins in the file
     * @throws SealException if there is no such session, or it seals other memory
     */
    public static Receiver join(Path holder, byte[] session, Arena arena, SharedFile file, long fileOffset) {
        UnixSocket socket = connect(holder);
        SealSession end = new SealSession(socket, arena, file.pageBytes(), session);
        try {
            SharedFile marks = end.keep(SharedFile.memfdForSomeWriters(
                    "rackcall-seal-marks", Seals.marksBytes(SealRingLayout.DEFAULT_CAPACITY)));
            marks.reserve(0, marks.bytes());
            MemorySegment mine = end.keep(marks.map()).memory();
            marks.shutOutWriters();
            socket.send(HolderMessage.receiver(session, fileOffset), marks.fd(), file.fd());
            Message accepted = HolderMessage.expect(socket, HolderMessage.ACCEPTED, 1);
            MemorySegment ring = end.mapAnswers(accepted).asSlice(HolderLayout.RING);
            return new Receiver(end, SealedScopes.of(arena, ring, mine));
        } catch (IOException | OsException e) {
            end.close();
            throw new SealException("the seals of " + arena + " cannot be received: " + e.getMessage(), e);
        }
    }

    /** A receiver's end of a session; {@link #scopes} are valid until it is closed. */
    public static final class Receiver implements AutoCloseable {
        private final SealSession end;
        private final SealedScopes scopes;

        private Receiver(SealSession end, SealedScopes scopes) {
            this.end = end;
            this.scopes = scopes;
        }

        /** Whether the holder still holds the seals. When the holder ends, all pages open. Makes a system call. */
        public boolean isHeld() {
            return !end.hasEnded();
        }

        public SealedScopes scopes() {
            return scopes;
        }

        @Override
        public void close() {
            end.close();
        }
    }

    // ---- both

    private static UnixSocket connect(Path holder) {
        try {
            UnixSocket socket = UnixSocket.connect(holder);
            if (socket.peer().uid() != Uid.current()) {
                socket.close();
                throw new SealException("the holder of seals at " + holder + " belongs to another user");
            }
            return socket;
        } catch (OsException e) {
            throw new SealException("there is no holder of seals at " + holder + ": " + e.getMessage(), e);
        }
    }

    /** Whether either end has closed the session. Makes a system call. */
    boolean hasEnded() {
        try {
            return socket.drain() < 0;
        } catch (IllegalStateException e) {
            return true;
        }
    }

    private MemorySegment mapAnswers(Message accepted) throws IOException {
        SharedFile file = keep(accepted.adopt(0));
        if (!file.isSealed() || file.bytes() < HolderLayout.RING + Seals.ringBytes(SealRingLayout.DEFAULT_CAPACITY)) {
            throw new IOException("the holder's memory is too short, or could shrink");
        }
        return keep(file.mapReadOnly()).memory();
    }

    private <T extends AutoCloseable> T keep(T resource) {
        opened.push(resource);
        return resource;
    }

    /**
     * Hangs up. Scopes of a sealed process stay sealed until its receiver has hung up, too. Idempotent.
     */
    @Override
    public synchronized void close() {
        socket.close();
        if (joined != null) {
            joined.closeFds();
            joined = null;
        }
        while (!opened.isEmpty()) {
            try {
                opened.pop().close();
            } catch (Exception e) {
                throw new IllegalStateException("closing the end of a seal session", e);
            }
        }
    }
}
