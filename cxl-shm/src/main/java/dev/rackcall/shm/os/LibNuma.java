package dev.rackcall.shm.os;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.invoke.MethodHandle;

/** C mirror: libnuma (numa(3)). Initialising this class fails where the library is missing; {@link Numa} asks first. */
final class LibNuma {
    static final String NAME = "libnuma.so.1";
    static final int MPOL_PREFERRED = 1;
    static final int MPOL_BIND = 2;

    private static final SymbolLookup LIBRARY = SymbolLookup.libraryLookup(NAME, Arena.global());
    private static final MethodHandle NUMA_AVAILABLE = Linkage.function(LIBRARY, "numa_available", JAVA_INT);
    private static final MethodHandle NUMA_MAX_NODE = Linkage.function(LIBRARY, "numa_max_node", JAVA_INT);
    private static final MethodHandle NUMA_NODE_OF_CPU =
            Linkage.function(LIBRARY, "numa_node_of_cpu", JAVA_INT, JAVA_INT);
    private static final MethodHandle MBIND =
            Linkage.function(LIBRARY, "mbind", JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_INT, ADDRESS, JAVA_LONG, JAVA_INT);

    private LibNuma() {}

    static int numaAvailable(MemorySegment errno) {
        try {
            return (int) NUMA_AVAILABLE.invokeExact(errno);
        } catch (Throwable t) {
            throw Linkage.impossible(t);
        }
    }

    static int numaMaxNode(MemorySegment errno) {
        try {
            return (int) NUMA_MAX_NODE.invokeExact(errno);
        } catch (Throwable t) {
            throw Linkage.impossible(t);
        }
    }

    static int numaNodeOfCpu(MemorySegment errno, int cpu) {
        try {
            return (int) NUMA_NODE_OF_CPU.invokeExact(errno, cpu);
        } catch (Throwable t) {
            throw Linkage.impossible(t);
        }
    }

    static long mbind(
            MemorySegment errno, long address, long length, int mode, MemorySegment nodes, long maxNode, int flags) {
        try {
            return (long) MBIND.invokeExact(errno, address, length, mode, nodes, maxNode, flags);
        } catch (Throwable t) {
            throw Linkage.impossible(t);
        }
    }
}
