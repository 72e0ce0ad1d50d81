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
 * Wishes about the memory of a new {@link Pool}: on which memory node it lies, and whether it consists of huge pages. They hold for all who join the
 * pool. What the host lacks is either done without ({@link Wish#PREFER}) or an error ({@link Wish#REQUIRE}). Immutable.
 *
 * {@snippet :
 * Pool.memfd("orders", 1L << 30, PoolOptions.create().hugePages(Wish.PREFER).numaNode(1, Wish.REQUIRE));
 * }
 */
public final class PoolOptions {
    /** How strongly something is wished. */
    public enum Wish {
        /** If the host has it; a line in the log says if not. */
        PREFER,
        /** Or no pool: making it fails with a {@link PoolException} that says what is missing. */
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

    /** No wishes: small pages, on whatever node. */
    public static PoolOptions create() {
        return new PoolOptions(Optional.empty(), OptionalInt.empty(), Wish.PREFER);
    }

    /**
     * Huge pages: of 2 MiB for a memfd, of whatever size its file system has for a named file, which must lie on a hugetlbfs.
     *
     * <p>They are taken from those that the host has reserved ({@code vm.nr_hugepages}). A memfd that only prefers them asks for transparent ones
     * ({@code shmem_enabled}) if there are none.
     */
    public PoolOptions hugePages(Wish wish) {
        return new PoolOptions(Optional.of(wish), node, nodeWish);
    }

    /**
     * A memory node, from 0. If it is required, its being full counts as the pool's being full; otherwise other nodes help out. Needs libnuma. The first
     * page of a memfd of huge pages is excepted.
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

    /** For a named file, whose pages are those of its file system. */
    void checkPages(SharedFile file) {
        if (wantsHugePages() && file.pageBytes() < HUGE_PAGE_BYTES) {
            lacking(
                    requiresHugePages(),
                    file + " has pages of " + file.pageBytes()
                            + " bytes; put it on a hugetlbfs (mount -t hugetlbfs none DIRECTORY) to have huge ones",
                    null);
        }
    }

    /** Before any of the memory is reserved. */
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

    /** What the host lacks of what was wished. */
    static void lacking(boolean isRequired, String sentence, RuntimeException cause) {
        if (isRequired) {
            throw new PoolException(sentence + "; or only prefer it", cause);
        }
        LOG.info("a pool is not as wished: {}", sentence);
    }

    @Override
    public String toString() {
        return "pages " + hugePages.map(wish -> "huge (" + wish + ")").orElse("small") + ", node "
                + (node.isPresent() ? node.getAsInt() + " (" + nodeWish + ")" : "any");
    }
}
