package dev.rackcall.rpc.shm.mirror;

import dev.rackcall.rpc.Status;
import dev.rackcall.rpc.shm.protocol.ControlLayout;
import dev.rackcall.rpc.shm.protocol.Handshake;
import dev.rackcall.rpc.spi.Carrier;
import dev.rackcall.shm.Arena;
import dev.rackcall.shm.OutOfArenaException;
import dev.rackcall.shm.Ref;
import dev.rackcall.shm.RefException;
import dev.rackcall.shm.RefSpace;
import dev.rackcall.shm.TableHome;
import dev.rackcall.shm.os.OsException;
import dev.rackcall.shm.os.file.Mapping;
import dev.rackcall.shm.os.file.SharedFile;
import dev.rackcall.shm.os.file.Unmapping;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLongArray;

/**
 * Pages of a client's request arena that the server fetches on demand. They lie beside the mirror, at the same offsets,
 * so that the mirror still matches the client's record of it. One per connection, created on demand and shared by its
 * calls. Thread-safe.
 */
final class FetchedArena {
    /** How long to wait for a page if the caller has set no deadline. */
    private static final long DEFAULT_NANOS = TimeUnit.SECONDS.toNanos(10);

    private final Carrier carrier;
    /** The mirror at this end. Unlike the carrier's mapping, it stays mapped while a handler uses the connection. */
    private final MemorySegment mirror;

    private final Handshake.ArenaPlace place;
    private final SharedFile file;
    private final Mapping mapping;
    private final RefSpace.Window window = new RefSpace.Window();

    private FetchedArena(
            Carrier carrier, MemorySegment mirror, Handshake.ArenaPlace place, SharedFile file, Mapping mapping) {
        this.carrier = carrier;
        this.mirror = mirror;
        this.place = place;
        this.file = file;
        this.mapping = mapping;
        // A store would change this copy only.
        window.set(mapping.memory().asReadOnly(), 0, place.bytes());
    }

    /**
     * @param mirror of the client's request arena
     * @throws dev.rackcall.rpc.RpcException RESOURCE_EXHAUSTED if the host has no room for it
     */
    static FetchedArena open(Carrier carrier, MemorySegment mirror, Handshake.ArenaPlace place) {
        SharedFile file = null;
        Mapping mapping = null;
        try {
            file = SharedFile.memfd("rackcall-fetched", place.bytes());
            mapping = file.map();
            carrier.fetchInto(file);
            return new FetchedArena(carrier, mirror, place, file, mapping);
        } catch (OsException e) {
            discard(file, mapping);
            throw Status.Code.RESOURCE_EXHAUSTED
                    .with("no memory for arguments that are fetched: %s", e.getMessage())
                    .asException(e);
        } catch (RuntimeException | Error e) {
            discard(file, mapping);
            throw e;
        }
    }

    private static void discard(SharedFile file, Mapping mapping) {
        if (mapping != null) {
            mapping.close();
        }
        if (file != null) {
            file.close();
        }
    }

    /**
     * Follows the Refs of one argument; pages that it has fetched are not fetched again.
     *
     * @param others where Refs into other arenas are followed
     * @param deadline of its call; 0: none
     */
    RefSpace space(RefSpace others, long deadline) {
        return new FetchedSpace(this, others, deadline != 0 ? deadline : System.nanoTime() + DEFAULT_NANOS);
    }

    int id() {
        return place.id();
    }

    long bytes() {
        return place.bytes();
    }

    MemorySegment memory() {
        return mapping.memory();
    }

    RefSpace.Window window() {
        return window;
    }

    boolean isIn(MemorySegment.Scope mapped) {
        return mapping.memory().scope().equals(mapped);
    }

    /**
     * Why a Ref must not be followed, according to the memory's generation at the client; null if it may be followed.
     * The pages pushed with the call suffice for most Refs; for memory allocated since, the generation is fetched from
     * the client.
     *
     * @throws dev.rackcall.rpc.RpcException as {@link #fetch}
     */
    String staleness(long ref, long deadline) {
        long said = Arena.generationAt(Ref.offset(ref));
        if (Arena.staleness(generation(mirror, said), ref) == null) {
            return null;
        }
        long page = said & -ControlLayout.PAGE;
        fetch(page, ControlLayout.PAGE, deadline);
        return Arena.staleness(generation(memory(), said), ref);
    }

    private static int generation(MemorySegment memory, long at) {
        return Byte.toUnsignedInt(memory.get(ValueLayout.JAVA_BYTE, at));
    }

    /**
     * Fetches whole pages.
     *
     * @throws dev.rackcall.rpc.RpcException UNAVAILABLE if the client is gone, DEADLINE_EXCEEDED if it does not answer in time, RESOURCE_EXHAUSTED if the host has no memory
     */
    void fetch(long offset, long length, long deadline) {
        try {
            file.reserve(offset, length);
        } catch (OsException | OutOfArenaException e) {
            throw Status.Code.RESOURCE_EXHAUSTED
                    .with("no memory for %d bytes of an argument that are fetched: %s", length, e.getMessage())
                    .asException(e);
        }
        if (!carrier.fetch(place.offset() + offset, offset, length, deadline)) {
            boolean late = System.nanoTime() - deadline >= 0;
            throw (late ? Status.Code.DEADLINE_EXCEEDED : Status.Code.UNAVAILABLE)
                    .with(
                            "%d bytes of an argument at offset %d could not be fetched: their caller %s",
                            length, offset, late ? "has not answered before its call's deadline" : "is gone")
                    .asException();
        }
    }

    /** Unmaps the area once no thread follows Refs into it. The carrier has its own mapping. */
    void close() {
        Unmapping.of(List.of(mapping), file::close);
    }

    /**
     * Follows the Refs of an argument that has stayed with its caller. Following a Ref fetches the missing pages of its
     * object, with read-ahead for sequential readers. Thread-safe.
     *
     * <p>Every access begins with a Ref: a flyweight follows one before it reads, and reads no further than its object
     * reaches. So there are no page faults to serve, and a failed fetch is an exception in the handler.
     */
    static final class FetchedSpace extends RefSpace {
        private static final int PAGE = 4096;
        private static final int OBJECT_HEADER = 8;
        /** Where an object's header has its length. */
        private static final int LENGTH = 4;
        /** Maximum number of pages that are read ahead. */
        private static final int MOST_AHEAD = 16;

        private final FetchedArena arena;
        private final RefSpace others;
        private final long deadline;
        /**
         * A bit for each present page. Set with release after the page has arrived; pairs with the acquire before the
         * page is read.
         */
        private final AtomicLongArray present;

        /** The last completed object of several pages, which may be requested again for each of its elements. */
        private volatile Extent last = new Extent(0, 0);

        // Only guesses at the reader's direction, so races are harmless.
        private int nextPage = -1;
        private int ahead;

        private record Extent(long offset, long length) {}

        FetchedSpace(FetchedArena arena, RefSpace others, long deadline) {
            this.arena = arena;
            this.others = others;
            this.deadline = deadline;
            this.present = new AtomicLongArray((int) (arena.bytes() / PAGE / Long.SIZE) + 1);
        }

        @Override
        public Window window(long ref) {
            if (Ref.arenaId(ref) != arena.id()) {
                return others.window(ref);
            }
            long offset = Ref.offset(ref);
            if (offset < Arena.pagesAt(TableHome.PRIVATE, arena.bytes())
                    || offset > arena.bytes() - OBJECT_HEADER
                    || offset % OBJECT_HEADER != 0) {
                throw new RefException(Ref.describe(ref) + " cannot be followed: it leads outside the " + arena.bytes()
                        + " bytes that its arena may have");
            }
            String complaint = arena.staleness(ref, deadline);
            if (complaint != null) {
                throw new RefException(Ref.describe(ref) + " cannot be followed: " + complaint);
            }
            need(offset, OBJECT_HEADER);
            // The reader of the object checks whether its length makes sense.
            long length = Integer.toUnsignedLong(arena.memory().get(ValueLayout.JAVA_INT, offset + LENGTH));
            needObject(offset, Math.min(length, arena.bytes() - offset));
            return arena.window();
        }

        private void needObject(long offset, long length) {
            if (length <= PAGE) {
                need(offset, length);
                return;
            }
            Extent known = last;
            if (known.offset != offset || known.length < length) {
                need(offset, length);
                last = new Extent(offset, length);
            }
        }

        private void need(long offset, long length) {
            int end = (int) ((offset + Math.max(length, 1) - 1) / PAGE) + 1;
            int page = (int) (offset / PAGE);
            while (page < end) {
                page = isPresent(page) ? page + 1 : fetch(page, end);
            }
        }

        private boolean isPresent(int page) {
            return (present.getAcquire(page / Long.SIZE) >>> page & 1) != 0;
        }

        /**
         * Fetches the missing pages from {@code first} to {@code wanted}, and some ahead; returns the page behind them.
         */
        private int fetch(int first, int wanted) {
            ahead = first == nextPage ? Math.clamp(2L * ahead, 1, MOST_AHEAD) : 0;
            int end = (int) Math.min((long) wanted + ahead, arena.bytes() / PAGE);
            int behind = first + 1;
            while (behind < end && !isPresent(behind)) {
                behind++;
            }
            arena.fetch((long) first * PAGE, (long) (behind - first) * PAGE, deadline);
            for (int page = first; page < behind; page++) {
                long bit = 1L << page;
                present.getAndUpdate(page / Long.SIZE, bits -> bits | bit);
            }
            nextPage = behind;
            return behind;
        }
    }
}
