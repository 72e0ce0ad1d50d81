package dev.rackcall.shm.os;

import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.SymbolLookup;
import java.lang.invoke.MethodHandle;

/**
 * Finds C functions. Every handle takes the caller's {@link CallState#errnoSegment()} first, so that errno is the caller's own and never
 * another thread's. For the packages that mirror C functions, each for its library; nobody else links.
 */
public final class Linkage {
    private static final Linker LINKER = Linker.nativeLinker();
    private static final Linker.Option ERRNO = Linker.Option.captureCallState("errno");

    private Linkage() {}

    /** A libc function of fixed arity. */
    public static MethodHandle libc(String name, MemoryLayout result, MemoryLayout... arguments) {
        return function(LINKER.defaultLookup(), name, result, arguments);
    }

    /** A libc function declared with {@code ...} after {@code fixed} arguments. */
    public static MethodHandle variadic(String name, int fixed, MemoryLayout result, MemoryLayout... arguments) {
        return LINKER.downcallHandle(
                LINKER.defaultLookup().findOrThrow(name),
                FunctionDescriptor.of(result, arguments),
                ERRNO,
                Linker.Option.firstVariadicArg(fixed));
    }

    /** A function of another library. */
    public static MethodHandle function(
            SymbolLookup library, String name, MemoryLayout result, MemoryLayout... arguments) {
        return LINKER.downcallHandle(library.findOrThrow(name), FunctionDescriptor.of(result, arguments), ERRNO);
    }

    /**
     * A function of nanoseconds that never blocks, sets no errno and calls nobody back: called without leaving the Java state, so it costs about
     * as much as a Java call.
     */
    public static MethodHandle critical(SymbolLookup library, String name, FunctionDescriptor signature) {
        return LINKER.downcallHandle(library.findOrThrow(name), signature, Linker.Option.critical(false));
    }

    /** A downcall throws nothing of its own: whatever arrives is an error of the VM or a wrong descriptor here. */
    public static AssertionError impossible(Throwable thrown) {
        if (thrown instanceof Error error) {
            throw error;
        }
        return new AssertionError("a downcall threw", thrown);
    }
}
