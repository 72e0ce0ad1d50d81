package dev.rackcall.sandbox;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import dev.rackcall.sandbox.SealSession.Invitation;
import dev.rackcall.sandbox.os.Raw;
import dev.rackcall.sandbox.os.StoreBarrier;
import dev.rackcall.shm.Arena;
import dev.rackcall.shm.ArenaSpec;
import dev.rackcall.shm.Ref;
import dev.rackcall.shm.Scope;
import dev.rackcall.shm.TableHome;
import dev.rackcall.shm.os.file.Mapping;
import dev.rackcall.shm.os.file.SharedFile;
import dev.rackcall.shm.os.socket.Message;
import dev.rackcall.shm.os.socket.UnixSocket;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import java.util.function.LongSupplier;
import java.util.stream.Stream;

/** Main of a child: a process whose memory a holder seals, and which then tries to write there in every way. */
final class EnforcedProbe {
    static final long QUOTA = 1 << 20;
    static final int ARENA = 9;
    static final long SECRET = 0x1122334455667788L;
    private static final Duration BOUND = Duration.ofSeconds(100);
    private static final long PAGE = 4096;
    private static final int PROT_READ_WRITE = 3;
    private static final int MAP_SHARED = 1;
    private static final int MAP_FIXED_ANONYMOUS = 0x30;
    private static final int MREMAP_MAYMOVE = 1;
    private static final int FALLOC_PUNCH_HOLE_KEEP_SIZE = 3;
    private static final int O_RDWR = 2;
    private static final int MADV_DOFORK = 11;
    private static final int SYS_PIDFD_OPEN = 434;
    private static final int SYS_PROCESS_MADVISE = 440;

    private EnforcedProbe() {}

    public static void main(String[] arguments) {
        Path folder = Path.of(arguments[0]);
        try (UnixSocket parent = UnixSocket.connect(folder.resolve("s"));
                SharedFile file = SharedFile.memfdForSomeWriters("enforced-probe", QUOTA)) {
            Mapping mapping = file.map();
            Arena arena = Arena.create(new ArenaSpec(ARENA, mapping.memory(), file, 0, TableHome.PRIVATE, 1, 64 << 10));
            try (SealSession session = SealSession.open(folder.resolve("holder"), arena, file, Invitation.NONE)) {
                parent.send(session.number(), file.fd());
                Seals seals = session.seals(BOUND, 1);
                run(folder, parent, arena, file, seals);
                openAnother(folder);
                openWhileAnotherWaits(folder);
                hangUp(folder, parent, arena, file, session, seals);
                System.out.println("all went well");
            }
        }
    }

    private static void run(Path folder, UnixSocket parent, Arena arena, SharedFile file, Seals seals) {
        Scope scope = arena.newScope();
        long ref = scope.allocate(64);
        MemorySegment memory = arena.memory();
        memory.set(JAVA_LONG, Ref.offset(ref), SECRET);
        long seal = seals.seal(scope, "call of the probe");
        parent.send(ByteBuffer.allocate(16).putLong(seal).putLong(ref).array());
        require(!parent.receive(BOUND).orElseThrow().isEnd(), "the parent is there");
        long page = memory.address() + Ref.offset(scope.firstRun());
        Map<String, LongSupplier> attacks = attacks(page, Ref.offset(scope.firstRun()), file.fd());
        attacks.put("a second session", () -> openAgain(folder, arena, file));
        attacks.forEach((name, attack) -> {
            long result = attack.getAsLong();
            System.out.println(name + ": " + result);
            require(isRefused(memory, Ref.offset(ref)), "a store was refused after " + name);
            require(memory.get(JAVA_LONG, Ref.offset(ref)) == SECRET, "nothing changed by " + name);
        });
        try {
            seals.release(seal);
            throw new AssertionError("released before the receiver was done");
        } catch (SealException e) {
            System.out.println("release before done: " + e.getMessage());
        }
        try {
            seals.revoke(seal);
            throw new AssertionError("revoked");
        } catch (SealException e) {
            System.out.println("revoke: " + e.getMessage());
        }
        parent.send(new byte[] {1});
        require(!parent.receive(BOUND).orElseThrow().isEnd(), "the parent is there");
        seals.release(seal);
        require(!isRefused(memory, Ref.offset(ref)), "open after the release");
        for (int i = 0; i < 100; i++) {
            long again = seals.seal(scope, "call " + i);
            require(isRefused(memory, Ref.offset(ref)), "closed again");
            parent.send(ByteBuffer.allocate(16).putLong(again).putLong(ref).array());
            require(!parent.receive(BOUND).orElseThrow().isEnd(), "the parent is there");
            seals.release(again);
        }
        for (int i = 0; i < 10; i++) {
            long first = seals.seal(scope, "call");
            seals.releaseWhenUsed(markedDone(parent, first, ref));
            long renewed = seals.seal(scope, "next call");
            require(renewed != first, "a number of its own for each call");
            require(isRefused(memory, Ref.offset(ref)), "closed in between");
            seals.release(markedDone(parent, renewed, ref));
        }
    }

    private static long markedDone(UnixSocket parent, long seal, long ref) {
        parent.send(ByteBuffer.allocate(16).putLong(seal).putLong(ref).array());
        require(!parent.receive(BOUND).orElseThrow().isEnd(), "the parent is there");
        return seal;
    }

    /** At its end at the latest, the holder would open the pages of this session. */
    private static long openAgain(Path folder, Arena arena, SharedFile file) {
        MemorySegment memory = arena.memory();
        try (UnixSocket holder = UnixSocket.connect(folder.resolve("holder"));
                SharedFile requests = SharedFile.memfd("probe-requests", HolderLayout.REQUEST_BYTES)) {
            holder.send(
                    HolderMessage.sealer(new SealedArea(ARENA, memory.address() + PAGE, PAGE, PAGE)),
                    requests.fd(),
                    file.fd());
            Message answer = holder.receive(BOUND).orElseThrow();
            answer.closeFds();
            return answer.bytes()[0] == HolderMessage.REFUSED ? -1 : 0;
        }
    }

    /** Another arena of the same process, which can no longer open a userfaultfd. */
    private static void openAnother(Path folder) {
        try (SharedFile file = SharedFile.memfdForSomeWriters("another-probe", QUOTA)) {
            Mapping mapping = file.map();
            Mapping another = file.mapReadOnly();
            Arena arena =
                    Arena.create(new ArenaSpec(ARENA + 1, mapping.memory(), file, 0, TableHome.PRIVATE, 1, 64 << 10));
            try {
                SealSession.open(folder.resolve("holder"), arena, file, Invitation.NONE)
                        .close();
                throw new AssertionError("a mapping that could be made writable was overlooked");
            } catch (SealException e) {
                require(e.getMessage().contains("another mapping"), e.getMessage());
            }
            require(descriptors("rackcall-seals") == 1, "only the first session's descriptors are open");
            another.close();
            SealSession.open(folder.resolve("holder"), arena, file, Invitation.NONE)
                    .close();
            try {
                SealSession.open(folder.resolve("other"), arena, file, Invitation.NONE)
                        .close();
                throw new AssertionError("another holder");
            } catch (SealException e) {
                require(e.getMessage().contains("until it ends"), e.getMessage());
            }
        }
    }

    /** A slow or missing receiver delays only its own session. */
    private static void openWhileAnotherWaits(Path folder) {
        CountDownLatch invited = new CountDownLatch(1);
        CountDownLatch enough = new CountDownLatch(1);
        AtomicBoolean waited = new AtomicBoolean();
        Thread slow = Thread.ofPlatform()
                .start(() -> openOne(folder, ARENA + 2, number -> {
                    invited.countDown();
                    // Less than the holder waits for a process to be ready.
                    waited.set(await(enough, 25));
                }));
        require(await(invited, BOUND.toSeconds()), "the slow session has come to its invitation");
        openOne(folder, ARENA + 3, Invitation.NONE);
        enough.countDown();
        try {
            require(slow.join(BOUND), "the slow session ends");
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
        require(waited.get(), "a session was opened while another waited for its receiver");
    }

    private static void openOne(Path folder, int id, Invitation invitation) {
        try (SharedFile file = SharedFile.memfdForSomeWriters("one-more-probe", QUOTA)) {
            Mapping mapping = file.map();
            Arena arena = Arena.create(new ArenaSpec(id, mapping.memory(), file, 0, TableHome.PRIVATE, 1, 64 << 10));
            SealSession.open(folder.resolve("holder"), arena, file, invitation).close();
        }
    }

    private static boolean await(CountDownLatch latch, long seconds) {
        try {
            return latch.await(seconds, TimeUnit.SECONDS);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Hangs up while the receiver reads. This does not open the pages, and neither does an attempt to be a second
     * receiver. */
    private static void hangUp(
            Path folder, UnixSocket parent, Arena arena, SharedFile file, SealSession session, Seals seals) {
        Scope scope = arena.newScope();
        long ref = scope.allocate(64);
        arena.memory().set(JAVA_LONG, Ref.offset(ref), SECRET);
        markedDone(parent, seals.seal(scope, "the last call"), ref);
        try (UnixSocket holder = UnixSocket.connect(folder.resolve("holder"));
                SharedFile marks = SharedFile.memfdForSomeWriters("probe-marks", 1 << 20)) {
            marks.shutOutWriters();
            holder.send(HolderMessage.receiver(session.number(), 0), marks.fd(), file.fd());
            Message answer = holder.receive(BOUND).orElseThrow();
            require(answer.bytes()[0] == HolderMessage.REFUSED, "there is a receiver already");
        }
        session.close();
        // Four times as long as the holder takes to notice.
        long end = System.nanoTime() + 400_000_000;
        while (System.nanoTime() - end < 0) {
            require(isRefused(arena.memory(), Ref.offset(ref)), "closed although it has hung up");
            LockSupport.parkNanos(20_000_000);
        }
        parent.send(new byte[] {1});
    }

    /** Number of this process's descriptors of a memfd. */
    static long descriptors(String name) {
        try (Stream<Path> all = Files.list(Path.of("/proc/self/fd"))) {
            return all.filter(descriptor -> {
                        try {
                            return Files.readSymbolicLink(descriptor).toString().startsWith("/memfd:" + name + " ");
                        } catch (IOException e) {
                            return false;
                        }
                    })
                    .count();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static Map<String, LongSupplier> attacks(long page, long fileOffset, int fd) {
        long input = Raw.call("open", Raw.string("/proc/self/maps"), 0);
        long bytes = Raw.string("seventeen letters");
        long vectors = java.lang.foreign.Arena.global().allocate(32, 8).address();
        MemorySegment iov = MemorySegment.ofAddress(vectors).reinterpret(32);
        iov.set(JAVA_LONG, 0, bytes);
        iov.set(JAVA_LONG, 8, 8);
        iov.set(JAVA_LONG, 16, page);
        iov.set(JAVA_LONG, 24, 8);
        long pid = ProcessHandle.current().pid();
        Map<String, LongSupplier> attacks = new LinkedHashMap<>();
        attacks.put("mprotect", () -> Raw.call("mprotect", page, PAGE, PROT_READ_WRITE));
        attacks.put("munmap", () -> Raw.call("munmap", page, PAGE));
        attacks.put("mremap", () -> Raw.call("mremap", page, PAGE, 2 * PAGE, MREMAP_MAYMOVE));
        attacks.put("mremap to a second mapping", () -> Raw.call("mremap", page, 0, PAGE, MREMAP_MAYMOVE));
        attacks.put(
                "mmap over it",
                () -> Raw.call("mmap", page, PAGE, PROT_READ_WRITE, MAP_SHARED | MAP_FIXED_ANONYMOUS, -1, 0));
        attacks.put("mmap of the file", () -> Raw.call("mmap", 0, PAGE, PROT_READ_WRITE, MAP_SHARED, fd, fileOffset));
        attacks.put("open the file anew", () -> {
            long again = Raw.call("open", Raw.string("/proc/self/fd/" + fd), O_RDWR);
            return again < 0 ? again : Raw.call("mmap", 0, PAGE, PROT_READ_WRITE, MAP_SHARED, again, fileOffset);
        });
        attacks.put("pwrite", () -> Raw.call("pwrite", fd, bytes, 8, fileOffset));
        attacks.put("proc self mem", () -> {
            long mem = Raw.call("open", Raw.string("/proc/self/mem"), O_RDWR);
            return mem < 0 ? mem : Raw.call("pwrite", mem, bytes, 8, page);
        });
        attacks.put("fallocate a hole", () -> Raw.call("fallocate", fd, FALLOC_PUNCH_HOLE_KEEP_SIZE, fileOffset, PAGE));
        attacks.put("ftruncate", () -> Raw.call("ftruncate", fd, 0));
        attacks.put("read into it", () -> Raw.call("read", input, page, 8));
        attacks.put("process_vm_writev", () -> Raw.call("process_vm_writev", pid, vectors, 1, vectors + 16, 1, 0));
        attacks.put("userfaultfd", () -> Raw.call("syscall", 323, 1));
        attacks.put("io_uring", () -> Raw.call("syscall", 425, 1, vectors));
        attacks.put("MADV_REMOVE", () -> Raw.call("madvise", page, PAGE, 9));
        attacks.put("MADV_DOFORK", () -> Raw.call("madvise", page, PAGE, 11));
        attacks.put("process_madvise to MADV_DOFORK", () -> {
            iov.set(JAVA_LONG, 16, page);
            iov.set(JAVA_LONG, 24, PAGE);
            long self = Raw.call("syscall", SYS_PIDFD_OPEN, pid, 0);
            return Raw.call("syscall", SYS_PROCESS_MADVISE, self, vectors + 16, 1, MADV_DOFORK, 0);
        });
        attacks.put("fork", () -> Forked.readsInto(page, "/proc/self/maps"));
        // Allowed, but without effect on the seal.
        attacks.put("(MADV_DONTNEED)", () -> Raw.call("madvise", page, PAGE, 4));
        attacks.put("(MADV_PAGEOUT)", () -> Raw.call("madvise", page, PAGE, 21));
        return attacks;
    }

    private static boolean isRefused(MemorySegment memory, long offset) {
        try {
            memory.set(JAVA_INT, offset + 16, 1);
            memory.set(JAVA_BYTE, offset + 24, (byte) 1);
            StoreBarrier.now();
            return false;
        } catch (InternalError e) {
            return true;
        }
    }

    private static void require(boolean holds, String what) {
        if (!holds) {
            throw new AssertionError(what);
        }
    }
}
