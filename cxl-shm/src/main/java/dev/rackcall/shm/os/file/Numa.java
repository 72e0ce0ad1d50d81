package dev.rackcall.shm.os.file;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import dev.rackcall.shm.os.ByteSize;
import dev.rackcall.shm.os.CallState;
import dev.rackcall.shm.os.OsException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.util.Optional;
import java.util.OptionalInt;

/**
 * Places shared pages on memory nodes (libnuma, mbind(2)). A policy on shared memory applies to all processes that map
 * the file, for pages reserved after it was set. Thread-safe.
 */
public final class Numa {
    private static final int MAX_NODES = 1024;
    private static final Optional<Numa> FOUND = find();

    private final int maxNode;

    private Numa(int maxNode) {
        this.maxNode = maxNode;
    }

    /** Empty if libnuma is not installed or the kernel has no NUMA support. The host then has a single node. */
    public static Optional<Numa> available() {
        return FOUND;
    }

    private static Optional<Numa> find() {
        try (Arena arena = Arena.ofConfined()) {
            SymbolLookup library = SymbolLookup.libraryLookup(LibNuma.NAME, arena);
            if (library.find("numa_available").isEmpty()
                    || library.find("mbind").isEmpty()) {
                return Optional.empty();
            }
        } catch (IllegalArgumentException e) {
            // libraryLookup throws this for a missing library.
            return Optional.empty();
        }
        MemorySegment errno = CallState.current().errnoSegment();
        return LibNuma.numaAvailable(errno) < 0
                ? Optional.empty()
                : Optional.of(new Numa(Math.min(MAX_NODES - 1, LibNuma.numaMaxNode(errno))));
    }

    /** Memory nodes of the host. A container may be allowed fewer. */
    public int nodes() {
        return maxNode + 1;
    }

    /** The node nearest to a processor; empty if there is no such processor. */
    public OptionalInt nodeOf(int cpu) {
        int node = LibNuma.numaNodeOfCpu(CallState.current().errnoSegment(), cpu);
        return node < 0 ? OptionalInt.empty() : OptionalInt.of(node);
    }

    /**
     * Puts pages on this node only. Reserving them fails when the node is full.
     *
     * @param memory whole pages of a mapping
     * @throws OsException if the node is not allowed to this process
     */
    public void bind(MemorySegment memory, int node) {
        apply(memory, node, LibNuma.MPOL_BIND);
    }

    /** Puts pages on this node while it has room; otherwise as {@link #bind}. */
    public void prefer(MemorySegment memory, int node) {
        apply(memory, node, LibNuma.MPOL_PREFERRED);
    }

    private void apply(MemorySegment memory, int node, int mode) {
        if (node < 0 || node > maxNode) {
            throw new IllegalArgumentException("this host has memory nodes 0 to " + maxNode + ", not " + node);
        }
        if (!memory.scope().isAlive()) {
            throw new IllegalStateException("the memory is unmapped");
        }
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment mask = arena.allocate(MAX_NODES / Byte.SIZE, Long.BYTES);
            mask.setAtIndex(JAVA_LONG, node / Long.SIZE, 1L << node % Long.SIZE);
            CallState state = CallState.current();
            // The kernel uses one bit less than the given number.
            long result = LibNuma.mbind(
                    state.errnoSegment(), memory.address(), memory.byteSize(), mode, mask, MAX_NODES + 1L, 0);
            if (result != 0) {
                throw new OsException(
                        "putting " + ByteSize.describe(memory.byteSize()) + " on memory node " + node,
                        state.errno(),
                        "the memory must start on a page and the node be allowed here (cpuset, container)");
            }
        }
    }
}
