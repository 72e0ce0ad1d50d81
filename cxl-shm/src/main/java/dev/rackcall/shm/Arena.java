package dev.rackcall.shm;

import dev.rackcall.shm.alloc.PageAllocator;
import dev.rackcall.shm.alloc.PageRun;
import dev.rackcall.shm.alloc.PageTable;
import dev.rackcall.shm.os.ByteSize;
import java.lang.foreign.MemorySegment;

/**
 * A part of a pool, or of a connection's memory, with an allocator of its own. It starts small and grows up to its
 * quota, as more of its file is backed with memory. It never moves. {@link Scope}s take runs of whole pages from it and
 * allocate objects there. Thread-safe.
 *
 * <p>The arena does not own its memory. The code that mapped the region unmaps it, after the last use.
 */
public final class Arena {
    /** Unit of allocation: a run consists of whole pages. */
    public static final long PAGE_BYTES = ArenaLayout.PAGE;

    private final int id;
    private final MemorySegment memory;
    private final int participant;
    private final Extents extents;
    private final long firstPage;
    private final PageAllocator pages;
    private final boolean allocates;
    /** How many pages this process alone allocates; 0 if others do. */
    private final int ownPages;
    /** Tells peers that cannot see the page table which Refs are stale. */
    private final Generations generations;

    private final String advice;
    private final GrowingPages growing;
    private final HandedRuns handed;

    private final ArenaTable self = ArenaTable.create();
    private final RefSpace.Window window = new RefSpace.Window();
    private final RefSpace.Window readOnlyWindow = new RefSpace.Window();

    private Arena(ArenaSpec spec, Extents extents, boolean allocates) {
        this.id = spec.id();
        this.advice = spec.advice();
        this.memory = spec.region();
        this.participant = spec.participant();
        this.allocates = allocates;
        this.extents = extents;
        this.firstPage = extents.firstPage();
        int count = (int) ((memory.byteSize() - firstPage) >>> ArenaLayout.PAGE_SHIFT);
        this.ownPages = allocates && spec.home() == TableHome.PRIVATE ? count : 0;
        this.generations = new Generations(memory, firstPage, ownPages);
        this.pages = spec.home() == TableHome.SHARED
                ? PageAllocator.sharing(
                        PageTable.shared(memory.asSlice(ArenaLayout.TABLE, PageTable.bytes(count)), count),
                        participant,
                        extents::reservedPages)
                : PageAllocator.alone(
                        PageTable.inHeap(allocates ? count : 0), participant, extents::reservedPages, generations);
        this.growing = new GrowingPages(spec, extents, pages);
        this.handed = new HandedRuns(this, pages, spec.home());
        readOnlyWindow.set(memory.asReadOnly(), 0, memory.byteSize());
        window.set(allocates ? memory : readOnlyWindow.memory(), 0, memory.byteSize());
        self.add(this);
    }

    /**
     * Creates an arena in empty memory and reserves its first extent.
     *
     * @throws OutOfArenaException if the host cannot back that extent with memory
     */
    public static Arena create(ArenaSpec spec) {
        return new Arena(spec, Extents.create(spec), true);
    }

    /**
     * Joins an arena that another process has created, or will create. If its table is {@link TableHome#SHARED}, this
     * process may allocate as participant {@link ArenaSpec#participant}. Otherwise it only follows Refs.
     *
     * @throws RefException if the table is shared and the header is missing or belongs to another arena
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

    /** Whether an arena seems to begin there. For observers: the other words of that memory may still be anything. */
    public static boolean isAt(MemorySegment memory) {
        return ArenaLayout.hasMagic(memory);
    }

    /** Maximum length of the arena at {@code memory}, which {@link #isAt} has found; any number if a process overwrote it. */
    public static long quotaAt(MemorySegment memory) {
        return ArenaLayout.quota(memory);
    }

    /** Bytes that this arena has taken from the host; any number if a process overwrote it. */
    public static long takenBytesAt(MemorySegment memory) {
        return ArenaLayout.reserved(memory);
    }

    public int id() {
        return id;
    }

    /**
     * Restores the header that this process has written, in case a participant has overwritten it: otherwise no
     * process could {@link #attach}. Only by the creator.
     *
     * @return whether it was overwritten
     */
    public boolean mendHeader() {
        return ArenaLayout.mend(memory, id, extents.known());
    }

    /** What to do when it is full, for a message. */
    public String advice() {
        return advice;
    }

    /** All its memory. Offsets in Refs are offsets in this segment. */
    public MemorySegment memory() {
        return memory;
    }

    /** Its objects may be written if this process may allocate here; a peer's objects may only be read. */
    RefSpace.Window window() {
        return window;
    }

    /** As {@link #window}, for objects that may only be read. */
    RefSpace.Window readOnlyWindow() {
        return readOnlyWindow;
    }

    /** Maximum length of the arena in bytes. */
    public long quota() {
        return memory.byteSize();
    }

    /**
     * Length of the header, which holds {@link #reservedBytes} and the pages' generations. A mirror of an arena with
     * one allocator must include it.
     */
    public long headerBytes() {
        return Generations.at(reservedBytes());
    }

    /**
     * Offset of the byte that holds the generation of the page at {@code offset}, in an arena with one allocator. A Ref
     * to that page must carry this generation; see {@link Ref#generation}.
     */
    public static long generationAt(long offset) {
        return Generations.at(offset);
    }

    /** Offset of the first page in an arena of {@code quota} bytes. The header and the page table come before it. */
    public static long pagesAt(TableHome home, long quota) {
        return ArenaLayout.firstPage(home, quota);
    }

    /** Bytes from the arena's start that are backed by memory now. At most the quota, whatever a peer wrote. */
    public long reservedBytes() {
        return extents.reserved();
    }

    /** Bytes that can be allocated without growing. Scans the whole table. */
    public long freeBytes() {
        return pages.freePages() << ArenaLayout.PAGE_SHIFT;
    }

    /** Bytes in allocated runs. Scans the whole table. */
    public long usedBytes() {
        return (extents.reservedPages() << ArenaLayout.PAGE_SHIFT) - freeBytes();
    }

    /** This process's participant number in the arena. */
    public int participant() {
        return participant;
    }

    // ---- runs

    /**
     * Allocates a run of whole pages of at least {@code bytes}. The run is not zeroed. If the arena lies in huge pages,
     * a run of more than half a huge page takes whole huge pages where possible.
     *
     * @return Ref of its first byte
     * @throws OutOfArenaException if the quota or the host's memory does not suffice
     * @throws IllegalArgumentException if {@code bytes} is negative
     */
    public long allocateRun(long bytes) {
        return allocateRun(bytes, bytes);
    }

    /**
     * Allocates a run of {@code wanted} bytes or, failing that, a shorter one of at least {@code needed} bytes.
     * Otherwise as {@link #allocateRun(long)}.
     */
    long allocateRun(long wanted, long needed) {
        if (!allocates) {
            throw new IllegalStateException("arena " + id + " belongs to a peer; this process only reads it");
        }
        long run = growing.allocate(wanted, needed);
        return Ref.of(id, PageRun.generation(run), offsetOf(PageRun.page(run)));
    }

    /** Frees, renews and takes over runs for this arena's scopes. */
    HandedRuns handed() {
        return handed;
    }

    /** Rejects a size that this arena can never allocate. */
    void checkSize(long bytes) {
        growing.checkSize(bytes);
    }

    /** Frees a run. Returns false, and does nothing, if this process no longer owns it. */
    public boolean freeRun(long ref) {
        return pages.free(headAt(ref), Ref.generation(ref));
    }

    /** Length of the run at {@code ref} in bytes, in whole pages. */
    public long runBytes(long ref) {
        return (long) pages.length(headAt(ref)) << ArenaLayout.PAGE_SHIFT;
    }

    /**
     * Frees every run of a participant that is known to be dead. May be repeated, and called by several processes at
     * once. Returns the number of runs.
     */
    public int reclaim(int participant) {
        if (!allocates) {
            throw new IllegalStateException("arena " + id + " belongs to a peer; this process only reads it");
        }
        return pages.reclaim(participant);
    }

    // ---- scopes

    /** Opens a scope that belongs to the calling thread. */
    public Scope newScope() {
        return newScope(ArenaLayout.PAGE);
    }

    /** Opens a scope with room for {@code firstBytes} in its first run. */
    public Scope newScope(long firstBytes) {
        return newScope(firstBytes, self);
    }

    /**
     * Opens a scope whose objects may hold any Ref that {@code space} follows, for example Refs into other arenas of a
     * channel.
     *
     * @param space must follow Refs into this arena
     */
    public Scope newScope(long firstBytes, RefSpace space) {
        return Scope.open(this, firstBytes, space);
    }

    /**
     * Takes the scope of the object at {@code ref} over from another participant. This process then owns the memory,
     * which stays allocated when the former owner dies. The returned scope can only be closed.
     *
     * @throws RefException if the object's memory does not belong to participant {@code from}
     */
    public Scope adopt(long ref, int from) {
        if (!allocates || from == participant) {
            throw new RefException(Ref.describe(ref) + " cannot be taken over from participant " + from + ": "
                    + (allocates ? "that is this process" : "this process only reads arena " + id));
        }
        return Scope.adopt(this, ref, from, self);
    }

    // ---- following Refs

    /** The reason not to follow {@code ref}, which names this arena; null if it may be followed. */
    String complaint(long ref) {
        return isOwn(ref) ? null : complaintOf(ref);
    }

    /** Whether the Ref leads to an object in memory that this process alone allocates, and that is in use. */
    private boolean isOwn(long ref) {
        long offset = Ref.offset(ref) - firstPage;
        long page = offset >> ArenaLayout.PAGE_SHIFT;
        return page >= 0
                && page < ownPages
                && (offset & (Long.BYTES - 1)) == 0
                && generations.isOwn((int) page, Ref.generation(ref));
    }

    private String complaintOf(long ref) {
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
            // The connection has ended and its memory is unmapped. The access that follows reports that.
            return null;
        }
    }

    /** The reason not to follow {@code ref} to memory of {@code generation}; null if the generations match. */
    public static String staleness(int generation, long ref) {
        return generation == Ref.generation(ref)
                ? null
                : "its memory is now of generation " + generation + "; the scope was closed or reset";
    }

    /** Ref of the first byte of the run that holds {@code ref}. */
    long runOf(long ref) {
        String complaint = complaint(ref);
        if (complaint != null) {
            throw new RefException(Ref.describe(ref) + " is not an object of a scope: " + complaint);
        }
        int head = pages.headOf(pageOf(Ref.offset(ref)));
        if (head == PageAllocator.NONE) {
            throw new RefException(Ref.describe(ref) + " leads into memory that is not allocated");
        }
        return Ref.of(id, Ref.generation(ref), offsetOf(head));
    }

    /**
     * Ref of the first run of the scope that holds the object at {@code ref}; {@link ScopeRuns#read} starts from it.
     * Only for an arena in which this process may allocate.
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

    /** The lowest offset of a run. */
    long firstRunOffset() {
        return firstPage;
    }

    /** Number of the page at which the run at {@code ref} begins. */
    int headAt(long ref) {
        long offset = Ref.offset(ref);
        if (Ref.arenaId(ref) != id || !extents.holdsObject(offset) || offset % ArenaLayout.PAGE != 0) {
            throw new RefException(Ref.describe(ref) + " is not a run of arena " + id);
        }
        return pageOf(offset);
    }

    private int pageOf(long offset) {
        return (int) ((offset - firstPage) >>> ArenaLayout.PAGE_SHIFT);
    }

    /** Offset of a page. */
    long offsetOf(int page) {
        return firstPage + ((long) page << ArenaLayout.PAGE_SHIFT);
    }

    @Override
    public String toString() {
        String reserved = memory.scope().isAlive() ? ByteSize.describe(reservedBytes()) : "unmapped";
        return "arena " + id + " (" + reserved + " of " + ByteSize.describe(quota()) + ")";
    }
}
