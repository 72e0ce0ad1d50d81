package dev.rackcall.shm.pool;

import dev.rackcall.shm.os.OsException;
import dev.rackcall.shm.os.file.Advice;
import dev.rackcall.shm.os.file.Numa;
import dev.rackcall.shm.os.file.SharedFile;
import java.lang.foreign.MemorySegment;
import java.util.Optional;
import java.util.OptionalInt;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Options for the memory of a new {@link Pool}: its memory node, and huge pages. They apply to all users of the pool.
 * If the host lacks something, the pool does without it ({@link Wish#PREFER}) or is not created ({@link Wish#REQUIRE}).
 * Immutable.
 *
 * {@snippet :
 * Pool.memfd("orders", 1L << 30, PoolOptions.create().hugePages(Wish.PREFER).numaNode(1, Wish.REQUIRE));
 * }
 */
public final class PoolOptions {
    /** What to do if the host lacks something. */
    public enum Wish {
        /** Do without; a log line says so. */
        PREFER,
        /** Fail with a {@link PoolException} that says what is missing. */
        REQUIRE
    }

    private static final Logger LOG = LoggerFactory.getLogger(PoolOptions.class);
    private static final long HUGE_PAGE_BYTES = 2L << 20;

    private final Optional<Wish> hugePages;
    private final OptionalInt node;
    private final Wish nodeWish;

    private PoolOptions(Optional<Wish> hugePages, OptionalInt node, Wish nodeWish) {
        this.hugePages = hugePages;
        this.node = node;
        this.nodeWish = nodeWish;
    }

    /** No options: small pages on any node. */
    public static PoolOptions create() {
        return new PoolOptions(Optional.empty(), OptionalInt.empty(), Wish.PREFER);
    }

    /**
     * Requests huge pages: of 2 MiB for a memfd; for a named file, of the size of its hugetlbfs.
     *
     * <p>They come from the huge pages that the host has reserved ({@code vm.nr_hugepages}). If there are none, a memfd
     * that only prefers them requests transparent huge pages ({@code shmem_enabled}).
     */
    public PoolOptions hugePages(Wish wish) {
        return new PoolOptions(Optional.of(wish), node, nodeWish);
    }

    /**
     * Requests a memory node, numbered from 0. If a required node is full, the pool counts as full; if a preferred node
     * is full, other nodes are used. Needs libnuma. Does not apply to the first page of a memfd of huge pages.
     */
    public PoolOptions numaNode(int number, Wish wish) {
        return new PoolOptions(hugePages, OptionalInt.of(number), wish);
    }

    boolean wantsHugePages() {
        return hugePages.isPresent();
    }

    boolean requiresHugePages() {
        return hugePages.filter(Wish.REQUIRE::equals).isPresent();
    }

    /** Checks the page size of a named file, which is that of its file system. */
    void checkPages(SharedFile file) {
        if (wantsHugePages() && file.pageBytes() < HUGE_PAGE_BYTES) {
            lacking(
                    requiresHugePages(),
                    file + " has pages of " + file.pageBytes()
                            + " bytes; put it on a hugetlbfs (mount -t hugetlbfs none DIRECTORY) to have huge ones",
                    null);
        }
    }

    /** Applies the options. Call it before any memory is reserved. */
    void place(MemorySegment memory, SharedFile.Kind kind) {
        place(memory, kind, Numa.available());
    }

    void place(MemorySegment memory, SharedFile.Kind kind, Optional<Numa> numa) {
        if (wantsHugePages() && kind == SharedFile.Kind.MEMFD && !Advice.hugePages(memory)) {
            LOG.debug("the kernel has no transparent huge pages for shared memory");
        }
        if (node.isEmpty()) {
            return;
        }
        boolean isRequired = nodeWish == Wish.REQUIRE;
        if (numa.isEmpty()) {
            lacking(
                    isRequired,
                    "it cannot be put on memory node " + node.getAsInt()
                            + " without libnuma.so.1 and a kernel with NUMA; install libnuma1 (numactl-libs)",
                    null);
            return;
        }
        try {
            if (isRequired) {
                numa.get().bind(memory, node.getAsInt());
            } else {
                numa.get().prefer(memory, node.getAsInt());
            }
        } catch (OsException | IllegalArgumentException e) {
            lacking(isRequired, "it cannot be put on memory node " + node.getAsInt() + ": " + e.getMessage(), e);
        }
    }

    /** Reports something that the host lacks. */
    static void lacking(boolean isRequired, String sentence, RuntimeException cause) {
        if (isRequired) {
            throw new PoolException(sentence + "; or only prefer it", cause);
        }
        LOG.info("a pool does without an option: {}", sentence);
    }

    @Override
    public String toString() {
        return "pages " + hugePages.map(wish -> "huge (" + wish + ")").orElse("small") + ", node "
                + (node.isPresent() ? node.getAsInt() + " (" + nodeWish + ")" : "any");
    }
}
