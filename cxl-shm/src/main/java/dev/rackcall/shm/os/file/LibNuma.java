package dev.rackcall.shm.os.file;

import dev.rackcall.shm.os.Linkage;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.invoke.MethodHandle;

/** C mirror: libnuma (numa(3)). Initialising this class fails if the library is missing; {@link Numa} checks first. */
final class LibNuma {
    static final String NAME = "libnuma.so.1";
    static final int MPOL_PREFERRED = 1;
    static final int MPOL_BIND = 2;

    private static final SymbolLookup LIBRARY = SymbolLookup.libraryLookup(NAME, Arena.global());
    private static final MethodHandle NUMA_AVAILABLE = Linkage.function(LIBRARY, "numa_available");
    private static final MethodHandle NUMA_MAX_NODE = Linkage.function(LIBRARY, "numa_max_node");
    private static final MethodHandle NUMA_NODE_OF_CPU = Linkage.function(LIBRARY, "numa_node_of_cpu");
    private static final MethodHandle MBIND = Linkage.function(LIBRARY, "mbind");

    private LibNuma() {}

    static int numaAvailable(MemorySegment errno) {
        return (int) Linkage.call(NUMA_AVAILABLE, errno);
    }

    static int numaMaxNode(MemorySegment errno) {
        return (int) Linkage.call(NUMA_MAX_NODE, errno);
    }

    static int numaNodeOfCpu(MemorySegment errno, int cpu) {
        return (int) Linkage.call(NUMA_NODE_OF_CPU, errno, cpu);
    }

    static long mbind(
            MemorySegment errno, long address, long length, int mode, MemorySegment nodes, long maxNode, int flags) {
        return Linkage.call(MBIND, errno, address, length, mode, Linkage.address(nodes), maxNode, flags);
    }
}
