package dev.rackcall.rpc.shm.server;

import dev.rackcall.rpc.Status;
import dev.rackcall.rpc.shm.protocol.Handshake;
import dev.rackcall.shm.Arena;
import dev.rackcall.shm.ArenaSpec;
import dev.rackcall.shm.TableHome;
import dev.rackcall.shm.os.file.Mapping;
import dev.rackcall.shm.os.file.NamedFile;
import dev.rackcall.shm.os.file.SharedFile;
import dev.rackcall.shm.os.file.Unmapping;
import java.util.BitSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BooleanSupplier;

/**
 * The arena that all clients of one channel share, in a memfd of its own, and who takes part in it. The server is participant 1. Thread-safe.
 *
 * <p>Each client gets a file description of its own, on which the byte of its number is locked: the kernel drops the lock once the client
 * has neither the descriptor nor a mapping any more, whatever has become of the connection. Only then is what it had not handed over reclaimed,
 * and its number used anew. A client that the server has hung up on may live and go on to use its memory.
 */
public final class SharedPool implements AutoCloseable {
    private static final int SERVER = Handshake.SERVER_PARTICIPANT;
    private static final int MAX_PARTICIPANTS = Handshake.MAX_PARTICIPANTS;

    private static final long FIRST_BYTES = 64 << 10;
    /** Where the lock bytes begin: far behind the file's end. */
    private static final long LOCKS = 1L << 60;

    /**
     * A client's place.
     *
     * @param number its participant number
     * @param file the description for the client; the server closes its copy once it is sent
     */
    record Seat(int number, SharedFile file) implements AutoCloseable {
        @Override
        public void close() {
            file.close();
        }
    }

    /** Holds the locks of all numbers that no client has. */
    private final SharedFile file;

    private final Mapping mapping;
    private final Arena arena;
    private final BitSet taken = new BitSet();
    /** Of those that are taken: the connection has ended, the client may still have the memory. */
    private final BitSet leaving = new BitSet();

    /** Of those of whom no kernel knows: whether they have left. */
    private final Map<Integer, BooleanSupplier> sayThemselves = new HashMap<>();

    private boolean closed;

    /** In memory of this host, whose kernel knows who has it. */
    SharedPool(String channel, int arenaId, long quota) {
        this(SharedFile.memfd("rackcall" + channel + "-shared", quota), arenaId);
        file.tryLock(LOCKS + SERVER, MAX_PARTICIPANTS);
    }

    /**
     * In memory of which no kernel knows who has it: clients get a place by {@link #join(BooleanSupplier)}.
     *
     * @param file all zero; closed here
     */
    public SharedPool(SharedFile file, int arenaId) {
        this.file = file;
        Mapping mapped = null;
        try {
            mapped = file.map();
            arena = Arena.create(
                    new ArenaSpec(arenaId, mapped.memory(), file, 0, TableHome.SHARED, SERVER, FIRST_BYTES));
            mapping = mapped;
        } catch (RuntimeException | Error e) {
            if (mapped != null) {
                mapped.close();
            }
            file.close();
            throw e;
        }
        taken.set(0);
        taken.set(SERVER);
    }

    public Arena arena() {
        return arena;
    }

    long bytes() {
        return file.bytes();
    }

    /** A place for a new client; who gets it must also {@link #leave}. */
    synchronized Seat join() {
        SharedFile own = NamedFile.reopen(file);
        try {
            for (int number = next(); number <= MAX_PARTICIPANTS; number = next()) {
                taken.set(number);
                file.unlock(LOCKS + number);
                if (own.tryLock(LOCKS + number)) {
                    return new Seat(number, own);
                }
                // Some client took a lock that is not its own; its end gives it back.
                leaving.set(number);
            }
            throw Status.Code.RESOURCE_EXHAUSTED
                    .with(
                            "all %d participant numbers of the channel's shared arena are taken, %d of them by clients that were"
                                    + " disconnected but still have it mapped; end those",
                            MAX_PARTICIPANTS, leaving.cardinality())
                    .asException();
        } catch (RuntimeException | Error e) {
            own.close();
            throw e;
        }
    }

    /**
     * A number for a client that says itself when it has left; it must also {@link #leave}.
     *
     * @param hasLeft whether that client does not use the arena any more, and never will
     */
    synchronized int join(BooleanSupplier hasLeft) {
        reclaim();
        int number = next();
        if (number > MAX_PARTICIPANTS) {
            throw Status.Code.RESOURCE_EXHAUSTED
                    .with("all %d participant numbers of the channel's shared arena are taken", MAX_PARTICIPANTS)
                    .asException();
        }
        taken.set(number);
        sayThemselves.put(number, hasLeft);
        return number;
    }

    private boolean hasLeft(int number) {
        BooleanSupplier says = sayThemselves.get(number);
        return says == null ? file.tryLock(LOCKS + number) : says.getAsBoolean();
    }

    private int next() {
        return taken.nextClearBit(0);
    }

    /** The connection of that client has ended. */
    public synchronized void leave(int participant) {
        leaving.set(participant);
        reclaim();
    }

    /** Frees the numbers and the memory of those whose connection has ended and who are gone by now. To be called again and again. */
    synchronized void reclaim() {
        for (int number = leaving.nextSetBit(0); number >= 0 && !closed; number = leaving.nextSetBit(number + 1)) {
            if (hasLeft(number)) {
                arena.reclaim(number);
                sayThemselves.remove(number);
                leaving.clear(number);
                taken.clear(number);
            }
        }
    }

    /** Whether no client uses the arena. */
    public synchronized boolean isDeserted() {
        reclaim();
        return taken.cardinality() == 2;
    }

    @Override
    public synchronized void close() {
        if (!closed) {
            closed = true;
            Unmapping.of(List.of(mapping), file::close);
        }
    }
}
