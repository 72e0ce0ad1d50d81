package dev.rackcall.shm;

import dev.rackcall.shm.os.ByteSize;
import dev.rackcall.shm.os.OsException;

/**
 * How much of an arena is backed by memory: extents one behind the other from its start, each about as long as all before. Thread-safe.
 *
 * <p>Where several processes allocate, the length is in the arena's header. A sole allocator keeps it to itself and writes the header for
 * others only: a peer that scribbles there must not make it use pages that nobody has reserved.
 */
final class Extents {
    private final ArenaSpec spec;
    private final long firstPage;
    private final boolean headerCounts;
    /** The highest length that this process has seen, in bytes from the arena's start: it never falls, whatever the header says. */
    private volatile long known;

    private Extents(ArenaSpec spec, boolean headerCounts, long known) {
        this.spec = spec;
        this.firstPage = ArenaLayout.firstPage(spec.home(), spec.region().byteSize());
        this.headerCounts = headerCounts;
        this.known = known;
    }

    /** Reserves the first extent of a new arena, and writes its header. */
    static Extents create(ArenaSpec spec) {
        Extents extents = new Extents(spec, spec.home() == TableHome.SHARED, 0);
        long room = spec.region().byteSize() - extents.firstPage;
        long first = extents.firstPage + ArenaLayout.roundUp(Math.min(room, spec.initialBytes()));
        if (spec.home() == TableHome.SHARED) {
            extents.reserve(0, ArenaLayout.PAGE);
            extents.reserveTable(extents.firstPage, first);
            extents.reserve(extents.firstPage, first - extents.firstPage);
        } else {
            long said = ArenaLayout.roundUp(Generations.at(first));
            if (extents.firstPage - said <= ArenaLayout.PAGE) {
                // One call of the kernel for both is worth a page.
                extents.reserve(0, first);
            } else {
                extents.reserve(0, said);
                extents.reserve(extents.firstPage, first - extents.firstPage);
            }
        }
        ArenaLayout.initialise(spec.region(), spec.id(), first);
        extents.known = first;
        return extents;
    }

    /** Of an arena that another process made. */
    static Extents attach(ArenaSpec spec) {
        return new Extents(spec, true, 0);
    }

    /** Where the pages begin. */
    long firstPage() {
        return firstPage;
    }

    /** Bytes from the start of the arena that are backed by memory now. */
    long reserved() {
        if (headerCounts) {
            long header = Math.clamp(
                    ArenaLayout.reserved(spec.region()), 0, spec.region().byteSize());
            if (header > known) {
                learn(header);
            }
        }
        return known;
    }

    private synchronized void learn(long header) {
        known = Math.max(known, header);
    }

    long reservedPages() {
        return Math.max(0, reserved() - firstPage) >>> ArenaLayout.PAGE_SHIFT;
    }

    /** Whether the object at this offset can lie in memory that is backed. */
    boolean holdsObject(long offset) {
        return offset >= firstPage && (offset <= known - Long.BYTES || offset <= reserved() - Long.BYTES);
    }

    /**
     * Backs more of the arena with memory: as much again as there is, or at least {@code bytes} if the host has not so much.
     *
     * @return false at the quota
     * @throws OutOfArenaException if the host has not even {@code bytes}
     */
    boolean grow(long bytes) {
        long reserved = Math.max(reserved(), firstPage);
        long left = spec.region().byteSize() - reserved;
        if (left < ArenaLayout.PAGE) {
            return false;
        }
        long least = Math.min(left, ArenaLayout.roundUp(bytes));
        long most = Math.min(left, Math.max(least, ArenaLayout.roundUp(reserved - firstPage)));
        try {
            extend(reserved, most);
        } catch (OutOfArenaException e) {
            if (most == least) {
                throw e;
            }
            extend(reserved, least);
        }
        return true;
    }

    private void extend(long reserved, long bytes) {
        long target = reserved + bytes;
        if (spec.home() == TableHome.SHARED) {
            reserveTable(reserved, target);
        } else {
            long said = ArenaLayout.roundUp(Generations.at(reserved));
            reserve(said, ArenaLayout.roundUp(Generations.at(target)) - said);
        }
        reserve(reserved, bytes);
        if (headerCounts) {
            ArenaLayout.raiseReserved(spec.region(), target);
        }
        publish(target);
    }

    /** What this process has reserved it knows, whatever stands in the header. */
    private synchronized void publish(long target) {
        if (target > known) {
            if (!headerCounts) {
                // Before any thread here can allocate there and pass a Ref on.
                ArenaLayout.publishReserved(spec.region(), target);
            }
            known = target;
        }
    }

    private void reserveTable(long from, long to) {
        // What belongs to the first page may begin with its group's and its block's word.
        long start = (ArenaLayout.tableEntry(from - firstPage) - 2 * Long.BYTES) & -ArenaLayout.PAGE;
        long end = ArenaLayout.roundUp(ArenaLayout.tableEntry(to - firstPage));
        reserve(start, end - start);
    }

    private void reserve(long offset, long bytes) {
        try {
            if (bytes > 0) {
                spec.file().reserve(spec.fileOffset() + offset, bytes);
            }
        } catch (OsException e) {
            throw new OutOfArenaException(
                    "arena " + spec.id() + " cannot get " + ByteSize.describe(bytes) + " more from the host: "
                            + e.getMessage(),
                    e);
        }
    }
}
