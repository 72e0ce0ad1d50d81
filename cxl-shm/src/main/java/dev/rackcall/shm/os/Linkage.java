package dev.rackcall.shm.os;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.invoke.MethodHandle;

/**
 * Finds C functions. Every handle takes the caller's {@link CallState#errnoSegment()} first, so that errno is the caller's own and never
 * another thread's. For the packages that mirror C functions, each for its library; nobody else links.
 *
 * <p>A function of at most six whole numbers and addresses is linked by its name alone, and called with {@link #call}. All those share one shape, of six
 * {@code long}s: the JVM makes code for each shape when it is first used, which takes 10 ms to 20 ms, and a first call needs some 30 functions. This
 * is sound on the architectures that {@link Abi} knows, where such arguments and results travel in registers of 64 bits, a callee looks at as
 * many of these, and as many of their bits, as it declares, and a variadic function gets its arguments in the same places.
 */
public final class Linkage {
    private static final Linker LINKER = Linker.nativeLinker();
    private static final Linker.Option ERRNO = Linker.Option.captureCallState("errno");
    private static final FunctionDescriptor SIX_NUMBERS =
            FunctionDescriptor.of(JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG);

    private static final MethodHandle SYSCALL = libc("syscall");

    private Linkage() {}

    // ---- functions of numbers and addresses

    /** A libc function for {@link #call}. */
    public static MethodHandle libc(String name) {
        return function(LINKER.defaultLookup(), name);
    }

    /** A function of another library for {@link #call}. */
    public static MethodHandle function(SymbolLookup library, String name) {
        return LINKER.downcallHandle(library.findOrThrow(name), SIX_NUMBERS, ERRNO);
    }

    /**
     * Native memory as an argument. Unlike a segment argument it keeps nothing open: the caller holds on to the memory until the call has returned.
     *
     * @throws IllegalArgumentException if it is heap memory
     */
    public static long address(MemorySegment memory) {
        if (!memory.isNative()) {
            throw new IllegalArgumentException("C functions take native memory, not " + memory);
        }
        return memory.address();
    }

    /** Calls a function without arguments. A result that is an {@code int} in C is in the lower half, and the rest means nothing. */
    public static long call(MethodHandle function, MemorySegment errno) {
        return call(function, errno, 0, 0, 0, 0, 0, 0);
    }

    /** As {@link #call(MethodHandle, MemorySegment)}, with one argument. */
    public static long call(MethodHandle function, MemorySegment errno, long a) {
        return call(function, errno, a, 0, 0, 0, 0, 0);
    }

    /** As {@link #call(MethodHandle, MemorySegment)}, with two arguments. */
    public static long call(MethodHandle function, MemorySegment errno, long a, long b) {
        return call(function, errno, a, b, 0, 0, 0, 0);
    }

    /** As {@link #call(MethodHandle, MemorySegment)}, with three arguments. */
    public static long call(MethodHandle function, MemorySegment errno, long a, long b, long c) {
        return call(function, errno, a, b, c, 0, 0, 0);
    }

    /** As {@link #call(MethodHandle, MemorySegment)}, with four arguments. */
    public static long call(MethodHandle function, MemorySegment errno, long a, long b, long c, long d) {
        return call(function, errno, a, b, c, d, 0, 0);
    }

    /** As {@link #call(MethodHandle, MemorySegment)}, with five arguments. */
    public static long call(MethodHandle function, MemorySegment errno, long a, long b, long c, long d, long e) {
        return call(function, errno, a, b, c, d, e, 0);
    }

    /** As {@link #call(MethodHandle, MemorySegment)}, with six arguments. */
    public static long call(
            MethodHandle function, MemorySegment errno, long a, long b, long c, long d, long e, long f) {
        try {
            return (long) function.invokeExact(errno, a, b, c, d, e, f);
        } catch (Throwable t) {
            throw impossible(t);
        }
    }

    /** A system call that libc has no function for, with arguments that are numbers or addresses; -1 means that errno was set. */
    public static long syscall(MemorySegment errno, long number, long a, long b, long c, long d, long e) {
        return call(SYSCALL, errno, number, a, b, c, d, e);
    }

    // ---- other shapes

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
