package dev.rackcall.shm;

import dev.rackcall.shm.os.file.Mapping;
import dev.rackcall.shm.os.file.SharedFile;
import dev.rackcall.shm.os.socket.Message;
import dev.rackcall.shm.os.socket.UnixSocket;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.locks.LockSupport;

/**
 * A process that allocates, frees, adopts and reclaims in a shared arena until it is killed. It writes a stamp into its
 * memory and checks it before freeing the memory.
 *
 * <p>The file holds a page of mail (Refs of scopes to adopt), and the arena behind it.
 */
final class KilledAllocator {
    static final int ARENA_ID = 7;
    static final long MAIL_BYTES = 4096;
    static final long QUOTA = 2 << 20;
    static final int MAX_PARTICIPANT = 6;

    private static final int LETTERS = 16;
    private static final int MAX_HELD = 24;
    private static final long PAUSE_NANOS = 100_000;
    private static final VarHandle LETTER = ValueLayout.JAVA_LONG.varHandle();

    private final MemorySegment mail;
    private final Arena arena;
    private final Random random;
    private final List<Long> runs = new ArrayList<>();
    private final List<Scope> scopes = new ArrayList<>();

    KilledAllocator(MemorySegment mail, Arena arena, long seed) {
        this.mail = mail;
        this.arena = arena;
        this.random = new Random(seed);
    }

    static Arena attach(SharedFile file, Mapping mapping, int participant) {
        return Arena.attach(spec(file, mapping, participant));
    }

    static ArenaSpec spec(SharedFile file, Mapping mapping, int participant) {
        MemorySegment region = mapping.memory().asSlice(MAIL_BYTES, QUOTA);
        return new ArenaSpec(ARENA_ID, region, file, MAIL_BYTES, TableHome.SHARED, participant, 64 << 10);
    }

    /** Arguments: the socket that gives out the file, this process's participant number, a seed. */
    public static void main(String[] arguments) {
        try (UnixSocket socket = UnixSocket.connect(Path.of(arguments[0]))) {
            socket.send(new byte[] {Byte.parseByte(arguments[1])});
            Message message = socket.receive(Duration.ofSeconds(100)).orElseThrow();
            SharedFile file = SharedFile.adopt(message.fds()[0]);
            Mapping mapping = file.map();
            Arena arena = attach(file, mapping, Integer.parseInt(arguments[1]));
            KilledAllocator allocator = new KilledAllocator(mapping.memory(), arena, Long.parseLong(arguments[2]));
            for (int i = 0; i < 50; i++) {
                allocator.step();
            }
            socket.ring();
            while (socket.isOpen() && socket.drain() == 0) {
                for (int i = 0; i < 100; i++) {
                    allocator.step();
                }
                // Leaves processor time to starting processes.
                LockSupport.parkNanos(PAUSE_NANOS);
            }
        }
    }

    void step() {
        try {
            switch (random.nextInt(8)) {
                case 0, 1, 2 -> {
                    if (runs.size() < MAX_HELD) {
                        long run = arena.allocateRun(1 + random.nextInt(60_000));
                        runs.add(run);
                        stamp(run);
                    }
                }
                case 3, 4 -> {
                    if (!runs.isEmpty()) {
                        free(runs.remove(/* index */ random.nextInt(runs.size())));
                    }
                }
                case 5 -> openScope();
                case 6 -> {
                    if (!scopes.isEmpty()) {
                        scopes.remove(/* index */ random.nextInt(scopes.size())).close();
                    }
                }
                default -> adopt();
            }
        } catch (OutOfArenaException e) {
            clear();
        }
    }

    /** Frees everything that this process has. */
    void clear() {
        scopes.forEach(Scope::close);
        scopes.clear();
        runs.forEach(this::free);
        runs.clear();
    }

    private void openScope() {
        if (scopes.size() == MAX_HELD) {
            return;
        }
        Scope scope = arena.newScope();
        scopes.add(scope);
        long object = 0;
        for (int i = random.nextInt(4); i >= 0; i--) {
            object = scope.allocate(random.nextInt(9_000));
        }
        if (random.nextBoolean()) {
            LETTER.setRelease(mail, (long) random.nextInt(LETTERS) * Long.BYTES, object);
        }
    }

    /** The sender may have closed the scope, may be closing it, may be dead, or may be this process. */
    private void adopt() {
        long letter = (long) random.nextInt(LETTERS) * Long.BYTES;
        long object = (long) LETTER.getAndSet(mail, letter, 0L);
        for (int from = 1; object != 0 && from <= MAX_PARTICIPANT; from++) {
            if (from != arena.participant()) {
                try {
                    scopes.add(arena.adopt(object, from));
                    return;
                } catch (RefException expected) {
                    // It does not belong to this participant, or no longer.
                }
            }
        }
    }

    /**
     * The complement: a plain Ref would look like a scope's header, and an old letter could adopt it 256 generations
     * later.
     */
    private void stamp(long run) {
        for (long at = Ref.offset(run); at < Ref.offset(run) + arena.runBytes(run); at += ArenaLayout.PAGE) {
            arena.memory().set(ValueLayout.JAVA_LONG, at, ~run);
        }
    }

    private void free(long run) {
        for (long at = Ref.offset(run); at < Ref.offset(run) + arena.runBytes(run); at += ArenaLayout.PAGE) {
            long found = ~arena.memory().get(ValueLayout.JAVA_LONG, at);
            if (found != run) {
                throw new AssertionError("participant " + arena.participant() + " had " + Ref.describe(run)
                        + " and found there, at offset " + at + ", what was written into " + Ref.describe(found));
            }
        }
        if (!arena.freeRun(run)) {
            throw new AssertionError(
                    "participant " + arena.participant() + " had " + Ref.describe(run) + " and could not free it");
        }
    }
}
