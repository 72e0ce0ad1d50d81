package dev.rackcall.shm;

import dev.rackcall.shm.alloc.PageAllocator;
import dev.rackcall.shm.alloc.PageRun;
import dev.rackcall.shm.alloc.PageTable;
import dev.rackcall.shm.os.ByteSize;
import java.lang.foreign.MemorySegment;

/**
 * A part of a pool with its own allocator. It starts small and grows, up to its quota, by having more of its file backed with memory; it never
 * moves. Objects are allocated in {@link Scope}s, which take whole runs of pages from here. Thread-safe.
 *
 * <p>The arena does not own its memory: whoever mapped the region unmaps it, after the last use.
 */
public final class Arena {
    /** Unit of allocation: runs are whole pages. */
    public static final long PAGE_BYTES = ArenaLayout.PAGE;

    private final int id;
    private final MemorySegment memory;
    private final int participant;
    private final Extents extents;
    private final long firstPage;
    private final PageAllocator pages;
    private final boolean allocates;
    /** What is said to those who have no page table. */
    private final Generations generations;

    private final GrowingPages growing;
    private final HandedRuns handed;

    private final ArenaTable self = ArenaTable.create();
    private final RefSpace.Window window = new RefSpace.Window();

    private Arena(ArenaSpec spec, Extents extents, boolean allocates) {
        this.id = spec.id();
        this.memory = spec.region();
        this.participant = spec.participant();
        this.allocates = allocates;
        this.extents = extents;
        this.firstPage = extents.firstPage();
        int count = (int) ((memory.byteSize() - firstPage) >>> ArenaLayout.PAGE_SHIFT);
        this.generations = new Generations(memory, firstPage);
        this.pages = spec.home() == TableHome.SHARED
                ? PageAllocator.sharing(
                        PageTable.shared(memory.asSlice(ArenaLayout.TABLE, PageTable.bytes(count)), count),
                        participant,
                        extents::reservedPages)
                : PageAllocator.alone(
                        PageTable.inHeap(allocates ? count : 0), participant, extents::reservedPages, generations);
        this.growing = new GrowingPages(spec, extents, pages);
        this.handed = new HandedRuns(this, pages, spec.home());
        window.set(memory, 0, memory.byteSize());
        self.add(this);
    }

    /**
     * Makes an arena in memory that holds nothing yet, and reserves its first extent.
     *
     * @throws OutOfArenaException if the host cannot back that extent with memory
     */
    public static Arena create(ArenaSpec spec) {
        return new Arena(spec, Extents.create(spec), true);
    }

    /**
     * Joins an arena that another process has made, or will make. If its table is {@link TableHome#SHARED} this process may allocate, as participant
     * {@link ArenaSpec#participant}; otherwise it only follows Refs.
     *
     * @throws RefException if there should be a header and it is not this arena's
     */
    public static Arena attach(ArenaSpec spec) {
        if (spec.home() == TableHome.SHARED) {
            String complaint = ArenaLayout.complaint(spec.region(), spec.id());
            if (complaint != null) {
                throw new RefException("arena " + spec.id() + " cannot be joined: " + complaint
                        + "; both sides must use the same release of Rackcall and the same memory");
            }
        }
        return new Arena(spec, Extents.attach(spec), spec.home() == TableHome.SHARED);
    }

    public int id() {
        return id;
    }

    /** All of its memory; offsets in Refs index it. */
    public MemorySegment memory() {
        return memory;
    }

    RefSpace.Window window() {
        return window;
    }

    /** Bytes that it may grow to. */
    public long quota() {
        return memory.byteSize();
    }

    /**
     * Bytes at its start that say how much of it is {@linkplain #reservedBytes reserved}, and which Refs into that are not stale: who mirrors an arena that one process
     * allocates mirrors them, too.
     */
    public long headerBytes() {
        return Generations.at(reservedBytes());
    }

    /** Where the header of an arena of one allocator has the byte that says of which generation a Ref must be that leads to {@code offset}; see {@link Ref#generation}. */
    public static long generationAt(long offset) {
        return Generations.at(offset);
    }

    /** Where the pages of an arena of that quota begin: its header and its page table lie before. */
    public static long pagesAt(TableHome home, long quota) {
        return ArenaLayout.firstPage(home, quota);
    }

    /** Bytes from its start that are backed by memory now. What a peer wrote there is cut to the quota. */
    public long reservedBytes() {
        return extents.reserved();
    }

    /** Bytes that could be allocated without growing. Looks at the whole table. */
    public long freeBytes() {
        return pages.freePages() << ArenaLayout.PAGE_SHIFT;
    }

    /** Bytes in runs that somebody has. Looks at the whole table. */
    public long usedBytes() {
        return (extents.reservedPages() << ArenaLayout.PAGE_SHIFT) - freeBytes();
    }

    /** This process's number in the arena. */
    public int participant() {
        return participant;
    }

    // ---- runs

    /**
     * Takes a run of whole pages of at least {@code bytes}; its memory holds what was there before. In memory of huge pages a run of more than half of one takes
     * whole ones, if there are.
     *
     * @return Ref of its first byte
     * @throws OutOfArenaException if the quota or the host's memory does not suffice
     * @throws IllegalArgumentException if {@code bytes} is negative
     */
    public long allocateRun(long bytes) {
        return allocateRun(bytes, bytes);
    }

    /** A run of {@code wanted} bytes, or of less if there is no such run, but of {@code needed} at least. Otherwise as {@link #allocateRun(long)}. */
    long allocateRun(long wanted, long needed) {
        if (!allocates) {
            throw new IllegalStateException("arena " + id + " belongs to a peer; this process only reads it");
        }
        long run = growing.allocate(wanted, needed);
        return Ref.of(id, PageRun.generation(run), offsetOf(PageRun.page(run)));
    }

    /** The runs of its scopes. */
    HandedRuns handed() {
        return handed;
    }

    /** Refuses what can never be had here. */
    void checkSize(long bytes) {
        growing.checkSize(bytes);
    }

    /** Gives a run back. Returns false, and does nothing, if it is not this process's any more. */
    public boolean freeRun(long ref) {
        return pages.free(headAt(ref), Ref.generation(ref));
    }

    /** Bytes of the run at {@code ref}, in whole pages. */
    public long runBytes(long ref) {
        return (long) pages.length(headAt(ref)) << ArenaLayout.PAGE_SHIFT;
    }

    /** Frees every run of a participant that is known to be dead. May be repeated and run by several at once. Returns the number of runs. */
    public int reclaim(int participant) {
        if (!allocates) {
            throw new IllegalStateException("arena " + id + " belongs to a peer; this process only reads it");
        }
        return pages.reclaim(participant);
    }

    // ---- scopes

    /** A scope that belongs to the calling thread. */
    public Scope newScope() {
        return newScope(ArenaLayout.PAGE);
    }

    /** A scope with room for {@code firstBytes} in its first run. */
    public Scope newScope(long firstBytes) {
        return newScope(firstBytes, self);
    }

    /**
     * A scope whose objects may refer to whatever {@code space} follows, for example to the other arenas of a channel.
     *
     * @param space must follow Refs into this arena
     */
    public Scope newScope(long firstBytes, RefSpace space) {
        return Scope.open(this, firstBytes, space);
    }

    /**
     * Takes over the scope that holds the object at {@code ref} from another participant: the memory then belongs to this process and outlives
     * the other. The returned scope can only be closed.
     *
     * @throws RefException if that memory is not {@code from}'s
     */
    public Scope adopt(long ref, int from) {
        if (!allocates || from == participant) {
            throw new RefException(Ref.describe(ref) + " cannot be taken over from participant " + from + ": "
                    + (allocates ? "that is this process" : "this process only reads arena " + id));
        }
        return Scope.adopt(this, ref, from, self);
    }

    // ---- following Refs

    /** Why {@code ref}, which names this arena, may not be followed; null if it may. */
    String complaint(long ref) {
        long offset = Ref.offset(ref);
        if (!extents.holdsObject(offset)) {
            return "it leads outside the " + reservedBytes() + " bytes that arena " + id + " has now";
        }
        if (!allocates) {
            return peersComplaint(ref, offset);
        }
        int head = pages.headOf(pageOf(offset));
        return head == PageAllocator.NONE
                ? "its memory is not allocated; the scope was closed"
                : staleness(pages.generation(head), ref);
    }

    private String peersComplaint(long ref, long offset) {
        try {
            return staleness(generations.of(offset), ref);
        } catch (IllegalStateException e) {
            if (memory.scope().isAlive()) {
                throw e;
            }
            // Unmapped with its connection: whoever goes on to read there is told so.
            return null;
        }
    }

    /** Why {@code ref} may not be followed to memory of that generation; null if it may. */
    public static String staleness(int generation, long ref) {
        return generation == Ref.generation(ref)
                ? null
                : "its memory is now of generation " + generation + "; the scope was closed or reset";
    }

    /** Ref of the first byte of the run that holds {@code ref}. */
    long runOf(long ref) {
        String complaint = complaint(ref);
        if (complaint != null) {
            throw new RefException(Ref.describe(ref) + " is no object of a scope: " + complaint);
        }
        int head = pages.headOf(pageOf(Ref.offset(ref)));
        if (head == PageAllocator.NONE) {
            throw new RefException(Ref.describe(ref) + " leads into memory that is not allocated");
        }
        return Ref.of(id, Ref.generation(ref), offsetOf(head));
    }

    /**
     * Ref of the first run of the scope that holds the object at {@code ref}: what {@link ScopeRuns#read} starts from. Only where this process
     * allocates, or the arena's table is shared.
     *
     * @throws RefException if the object's scope was closed or reset
     */
    public long scopeOf(long ref) {
        if (!allocates) {
            throw new RefException(Ref.describe(ref) + " lies in arena " + id
                    + ", which a peer allocates; only the peer knows its scopes");
        }
        return RunLayout.first(memory, Ref.offset(runOf(ref)));
    }

    /** Where the first run may be. */
    long firstRunOffset() {
        return firstPage;
    }

    /** Number of the page at which a run begins. */
    int headAt(long ref) {
        long offset = Ref.offset(ref);
        if (Ref.arenaId(ref) != id || !extents.holdsObject(offset) || offset % ArenaLayout.PAGE != 0) {
            throw new RefException(Ref.describe(ref) + " is no run of arena " + id);
        }
        return pageOf(offset);
    }

    private int pageOf(long offset) {
        return (int) ((offset - firstPage) >>> ArenaLayout.PAGE_SHIFT);
    }

    /** Where a page lies. */
    long offsetOf(int page) {
        return firstPage + ((long) page << ArenaLayout.PAGE_SHIFT);
    }

    @Override
    public String toString() {
        String reserved = memory.scope().isAlive() ? ByteSize.describe(reservedBytes()) : "unmapped";
        return "arena " + id + " (" + reserved + " of " + ByteSize.describe(quota()) + ")";
    }
}
