package dev.rackcall.rpc.shm;

import dev.rackcall.rpc.Status;
import dev.rackcall.shm.Arena;
import dev.rackcall.shm.ArenaSpec;
import dev.rackcall.shm.TableHome;
import dev.rackcall.shm.os.Mapping;
import dev.rackcall.shm.os.SharedFile;
import java.util.BitSet;

/**
 * The arena that all clients of one channel share, in a memfd of its own, and who takes part in it. The server is participant 1; a client's
 * number is freed, and what it had not handed over is reclaimed, when the client has gone. Thread-safe.
 */
final class SharedPool implements AutoCloseable {
    static final int SERVER = 1;
    /** Participant numbers have 12 bits in a page-table entry; 0 is nobody. */
    static final int MAX_PARTICIPANTS = 4095;

    private static final long FIRST_BYTES = 64 << 10;

    private final SharedFile file;
    private final Mapping mapping;
    private final Arena arena;
    private final BitSet taken = new BitSet();
    private boolean closed;

    SharedPool(String channel, int arenaId, long quota) {
        file = SharedFile.memfd("rackcall" + channel + "-shared", quota);
        mapping = file.map();
        arena = Arena.create(new ArenaSpec(arenaId, mapping.memory(), file, 0, TableHome.SHARED, SERVER, FIRST_BYTES));
        taken.set(0);
        taken.set(SERVER);
    }

    Arena arena() {
        return arena;
    }

    int fd() {
        return file.fd();
    }

    long bytes() {
        return file.bytes();
    }

    /** A number for a new client. */
    synchronized int join() {
        int number = taken.nextClearBit(0);
        if (number > MAX_PARTICIPANTS) {
            throw Status.Code.RESOURCE_EXHAUSTED
                    .with("all %d participant numbers of the channel's shared arena are taken", MAX_PARTICIPANTS)
                    .asException();
        }
        taken.set(number);
        return number;
    }

    /** The client with that number is gone for good. */
    synchronized void leave(int participant) {
        if (!closed) {
            arena.reclaim(participant);
        }
        taken.clear(participant);
    }

    @Override
    public synchronized void close() {
        if (!closed) {
            closed = true;
            mapping.close();
            file.close();
        }
    }
}
