package dev.rackcall.shm;

import dev.rackcall.shm.os.ByteSize;
import dev.rackcall.shm.os.OsException;

/**
 * Tracks and extends the part of an arena that is backed by memory. Each extent about doubles that part. Thread-safe.
 *
 * <p>If several processes allocate, the length is in the arena's header. A sole allocator keeps the length in its heap
 * and writes the header only for others. A peer that overwrites the header therefore cannot make the allocator use
 * unreserved pages.
 */
final class Extents {
    private final ArenaSpec spec;
    private final long firstPage;
    private final boolean headerCounts;
    /**
     * The highest length that this process has seen, in bytes from the arena's start. It never falls, whatever the
     * header says.
     */
    private volatile long known;

    private Extents(ArenaSpec spec, boolean headerCounts, long known) {
        this.spec = spec;
        this.firstPage = ArenaLayout.firstPage(spec.home(), spec.region().byteSize());
        this.headerCounts = headerCounts;
        this.known = known;
    }

    /** Reserves the first extent of a new arena and writes its header. */
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
                // Reserving both with one system call is worth wasting a page.
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

    /** For an arena that another process created. */
    static Extents attach(ArenaSpec spec) {
        return new Extents(spec, true, 0);
    }

    /** Offset of the first page. */
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

    /** As {@link #reserved}, without what the header claims now. */
    long known() {
        return known;
    }

    long reservedPages() {
        return Math.max(0, reserved() - firstPage) >>> ArenaLayout.PAGE_SHIFT;
    }

    /** Whether an object at this offset can lie in backed memory. */
    boolean holdsObject(long offset) {
        return offset >= firstPage && (offset <= known - Long.BYTES || offset <= reserved() - Long.BYTES);
    }

    /**
     * Doubles the backed memory or, if the host has too little, adds at least {@code bytes}.
     *
     * @return false if the quota is reached
     * @throws OutOfArenaException if the host cannot give even {@code bytes}
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

    /** Records what this process has reserved, whatever the header says. */
    private synchronized void publish(long target) {
        if (target > known) {
            if (!headerCounts) {
                // Published before any thread of this process can allocate there and pass a Ref to the peer.
                ArenaLayout.publishReserved(spec.region(), target);
            }
            known = target;
        }
    }

    private void reserveTable(long from, long to) {
        // The words of the first page's group and block may lie directly before its entry.
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
