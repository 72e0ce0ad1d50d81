package dev.rackcall.rpc.shm.pool;

import dev.rackcall.rpc.RpcException;
import dev.rackcall.rpc.Status;
import dev.rackcall.shm.pool.PoolCommons;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * Where the clients of a channel find a server in a pool. A channel has as many doors as it has had servers at a time;
 * each stays as long as the pool, so that a late client never writes into reused memory. The pool's roots are the
 * places of all doors, each set once from 0.
 *
 * <pre>
 *     0  magic    "RKDOOR01"                                           maker, before the door is among the roots
 *     8  owner    random number of the server that has it, 0: none;    by compare-and-set
 *                 odd: it shares the channel with no other server
 *    16  beat     moved by that server as long as it lives
 *    24  bytes of the name (4), name                                  the channel's; then 0 and a number, for all doors but its first
 *  1016  host and pid of the owner (4 each)                            owner, once it has the door
 *  1024  64 seats: place of a handshake, 0: free                       by compare-and-set: from 0 by a client, to 0 by the server that
 *                                                                     takes it, or by the client that gives up
 * </pre>
 */
final class PoolDoor {
    static final int SEATS = 64;
    /** Far more starters than take a door from each other. */
    private static final int MOST_LOOKS = 1000;

    private static final long BYTES = 4096;
    /** "RKDOOR01" in ASCII, little-endian. */
    private static final long MAGIC = 0x3130524f4f444b52L;

    private static final long MAGIC_AT = 0;
    private static final long OWNER = 8;
    private static final long BEAT = 16;
    private static final long NAME_BYTES = 24;
    private static final long NAME = 28;
    private static final long OWNER_PROCESS = 1016;
    private static final long SEAT = 1024;

    private static final long LOOK_NANOS = TimeUnit.MILLISECONDS.toNanos(1);

    private static final VarHandle LONG = ValueLayout.JAVA_LONG.varHandle();

    private final MemorySegment memory;

    private PoolDoor(MemorySegment memory) {
        this.memory = memory;
    }

    /** The door of that name, if a server has ever had it in this pool. */
    static Optional<PoolDoor> find(PoolCommons pool, String name) {
        MemorySegment roots = pool.roots();
        for (long at = 0; at < roots.byteSize(); at += Long.BYTES) {
            // Acquire: pairs with the compare-and-set in make; a door among the roots is complete.
            long place = (long) LONG.getAcquire(roots, at);
            if (place == 0) {
                return Optional.empty();
            }
            if (isOf(pool, place, name)) {
                return Optional.of(new PoolDoor(pool.memory().asSlice(place, BYTES)));
            }
        }
        return Optional.empty();
    }

    /** The name of the channel's door with that number. Doors are made in the order of their numbers. */
    private static String name(String channel, int number) {
        return number == 0 ? channel : channel + '\0' + number;
    }

    /** All doors of a channel that servers have now. */
    static List<PoolDoor> owned(PoolCommons pool, String channel) {
        List<PoolDoor> doors = new ArrayList<>();
        Optional<PoolDoor> door = find(pool, channel);
        for (int number = 1; door.isPresent(); number++) {
            if (door.get().owner() != 0) {
                doors.add(door.get());
            }
            door = find(pool, name(channel, number));
        }
        return doors;
    }

    private static boolean isOf(PoolCommons pool, long place, String doorName) {
        if (place < 0 || place > pool.memory().byteSize() - BYTES || place % BYTES != 0) {
            return false;
        }
        MemorySegment door = pool.memory().asSlice(place, BYTES);
        byte[] name = doorName.getBytes(StandardCharsets.UTF_8);
        return door.get(ValueLayout.JAVA_LONG, MAGIC_AT) == MAGIC
                && door.get(ValueLayout.JAVA_INT, NAME_BYTES) == name.length
                && Arrays.equals(door.asSlice(NAME, name.length).toArray(ValueLayout.JAVA_BYTE), name);
    }

    /**
     * The door of that name, made if there is none.
     *
     * @throws IllegalStateException if the pool has no room for another door
     */
    static PoolDoor findOrMake(PoolCommons pool, String name) {
        Optional<PoolDoor> present = find(pool, name);
        return present.isPresent() ? present.get() : make(pool, name);
    }

    private static PoolDoor make(PoolCommons pool, String doorName) {
        byte[] name = doorName.getBytes(StandardCharsets.UTF_8);
        long place = pool.takeForPool(BYTES);
        MemorySegment door = pool.memory().asSlice(place, BYTES).fill((byte) 0);
        door.set(ValueLayout.JAVA_LONG, MAGIC_AT, MAGIC);
        door.set(ValueLayout.JAVA_INT, NAME_BYTES, name.length);
        MemorySegment.copy(name, 0, door, ValueLayout.JAVA_BYTE, NAME, name.length);
        MemorySegment roots = pool.roots();
        for (long at = 0; at < roots.byteSize(); at += Long.BYTES) {
            // Volatile: pairs with the acquire in find.
            long present = (long) LONG.compareAndExchange(roots, at, 0L, place);
            if (present == 0) {
                return new PoolDoor(door);
            }
            if (isOf(pool, present, doorName)) {
                // Another server of the channel was faster.
                pool.give(place);
                return new PoolDoor(pool.memory().asSlice(present, BYTES));
            }
        }
        pool.give(place);
        throw new IllegalStateException("the pool has " + roots.byteSize() / Long.BYTES
                + " doors of channels already, which is as many as it can have; use another pool");
    }

    // ---- the server's side

    /** The server that has the door; 0: none. */
    long owner() {
        return (long) LONG.getAcquire(memory, OWNER);
    }

    /** The owner's beat, which changes while the owner lives. */
    long beats() {
        return (long) LONG.getAcquire(memory, BEAT);
    }

    /**
     * Changes the owner from {@code before} to {@code owner}; returns whether it did. The new owner answers the hellos
     * that are there.
     */
    boolean change(long before, long owner) {
        return LONG.compareAndSet(memory, OWNER, before, owner);
    }

    /** A new number for a server, which is never 0. */
    static long newOwner(boolean isExclusive) {
        long random = ThreadLocalRandom.current().nextLong(2, Long.MAX_VALUE);
        return isExclusive ? random | 1 : random & ~1L;
    }

    private static boolean isExclusive(long owner) {
        return (owner & 1) != 0;
    }

    /**
     * Takes a door of a channel: the first that has no owner, or whose owner has shown no sign of life for a lease.
     *
     * @param mine the number of the new owner
     * @param meanwhile called again and again while this waits for signs of life of others
     * @throws RpcException ALREADY_EXISTS if a living server has the channel, and that one or the new one is exclusive
     * @throws IllegalStateException if the pool has no room for another door
     */
    static PoolDoor acquire(PoolCommons pool, String channel, long mine, Runnable meanwhile) {
        int number = 0;
        PoolDoor door = findOrMake(pool, channel);
        while (!door.isTakenBy(mine, channel, meanwhile)) {
            door = findOrMake(pool, name(channel, ++number));
        }
        PoolDoor taken = door;
        taken.signBy(pool.host());
        Runnable beat = () -> {
            meanwhile.run();
            taken.beat();
        };
        try {
            for (PoolDoor other : owned(pool, channel)) {
                long theirs = other.owner();
                boolean meets = theirs != 0 && theirs != mine && (isExclusive(mine) || isExclusive(theirs));
                if (meets && other.isAlive(theirs, beat)) {
                    throw other.alreadyExists(channel);
                }
            }
            return taken;
        } catch (RuntimeException | Error e) {
            taken.change(mine, 0);
            throw e;
        }
    }

    /** Whether the new owner got this door; otherwise the door has a living owner that shares the channel. */
    private boolean isTakenBy(long mine, String channel, Runnable meanwhile) {
        for (int look = 0; look < MOST_LOOKS; look++) {
            long before = owner();
            if (before != 0 && isAlive(before, meanwhile)) {
                if (isExclusive(mine) || isExclusive(before)) {
                    throw alreadyExists(channel);
                }
                return false;
            }
            // If another starter was faster, look at it: two that pass each other would both believe that they are
            // alone.
            if (change(before, mine)) {
                return true;
            }
        }
        throw Status.Code.UNAVAILABLE
                .with(
                        "channel %s: its door in the pool changed owners %d times while this server started; start again, and if"
                                + " that repeats, look for a process that writes to the pool without Rackcall",
                        channel, MOST_LOOKS)
                .asException();
    }

    /** Waits for a sign of life of the door's owner, for a lease at most. */
    private boolean isAlive(long who, Runnable meanwhile) {
        long beats = beats();
        long end = System.nanoTime() + PoolBell.LEASE_NANOS;
        while (System.nanoTime() - end < 0 && owner() == who && beats() == beats) {
            meanwhile.run();
            LockSupport.parkNanos(LOOK_NANOS);
        }
        return beats() != beats && owner() == who;
    }

    private RpcException alreadyExists(String channel) {
        return Status.Code.ALREADY_EXISTS
                .with(
                        "channel %s already has a living server in this pool (%s), and one of the two is exclusive; stop it, or"
                                + " serve another channel",
                        channel, ownerProcess())
                .asException();
    }

    /**
     * Takes a door of a channel again, for a server that has lost its own to another one. Does not wait for signs of
     * life: each owner counts as alive.
     *
     * @return empty if the channel has another server, and that one or this one is exclusive
     * @throws IllegalStateException if the pool has no room for another door
     */
    static Optional<PoolDoor> acquireAgain(PoolCommons pool, String channel, long mine) {
        if (isDeniedTo(pool, channel, mine)) {
            return Optional.empty();
        }
        int number = 0;
        PoolDoor door = findOrMake(pool, channel);
        while (!door.change(0, mine)) {
            door = findOrMake(pool, name(channel, ++number));
        }
        door.signBy(pool.host());
        // An exclusive server may have come at the same time.
        if (isDeniedTo(pool, channel, mine)) {
            door.change(mine, 0);
            return Optional.empty();
        }
        return Optional.of(door);
    }

    private static boolean isDeniedTo(PoolCommons pool, String channel, long mine) {
        return owned(pool, channel).stream()
                .mapToLong(PoolDoor::owner)
                .anyMatch(theirs -> theirs != 0 && theirs != mine && (isExclusive(mine) || isExclusive(theirs)));
    }

    /** The owner says which process it is. */
    private void signBy(int host) {
        memory.set(ValueLayout.JAVA_INT, OWNER_PROCESS, host);
        memory.set(ValueLayout.JAVA_INT, OWNER_PROCESS + Integer.BYTES, (int)
                ProcessHandle.current().pid());
        // Release: pairs with the acquire in beats. What lives has signed.
        LONG.setRelease(memory, BEAT, beats() + 1);
    }

    /** The owner's process, for messages. */
    String ownerProcess() {
        return "pid " + memory.get(ValueLayout.JAVA_INT, OWNER_PROCESS + Integer.BYTES) + " of host "
                + memory.get(ValueLayout.JAVA_INT, OWNER_PROCESS);
    }

    /** Shows that the server lives. One thread. */
    void beat() {
        LONG.setOpaque(memory, BEAT, beats() + 1);
    }

    /** Takes the hello at that seat, to be answered by the caller; returns its place, or 0 if there is none. */
    long take(int seat) {
        long at = SEAT + (long) seat * Long.BYTES;
        // Acquire: pairs with the compare-and-set in sit; the hello is complete.
        long place = (long) LONG.getAcquire(memory, at);
        return place != 0 && LONG.compareAndSet(memory, at, place, 0L) ? place : 0;
    }

    // ---- the client's side

    /** Puts a hello at a free seat; negative if there is none. */
    int sit(long place) {
        for (int seat = 0; seat < SEATS; seat++) {
            // Volatile: pairs with the acquire in take.
            if (LONG.compareAndSet(memory, SEAT + (long) seat * Long.BYTES, 0L, place)) {
                return seat;
            }
        }
        return -1;
    }

    /** Withdraws a hello; false if a server has taken it and may write into it. */
    boolean stand(int seat, long place) {
        return LONG.compareAndSet(memory, SEAT + (long) seat * Long.BYTES, place, 0L);
    }
}
