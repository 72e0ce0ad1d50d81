package dev.rackcall.shm.os;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.invoke.MethodHandle;
import org.slf4j.LoggerFactory;

/**
 * Finds C functions, for the packages that mirror C. Every handle first takes the caller's {@link
 * CallState#errnoSegment()}, so that threads do not share errno.
 *
 * <p>A function of at most six integers and addresses is linked by its name alone and called with {@link #call}. All of
 * them share one signature of six {@code long}s. The JVM needs 10 to 20 ms to generate code for each new signature, and
 * a first call needs some 30 functions. This is sound on the architectures of {@link Abi}: arguments and results are in
 * 64-bit registers, and a function reads only the registers and bits that it declares. A variadic function gets its
 * arguments in the same places.
 */
public final class Linkage {
    static {
        // The JVM's own warning or exception follows; it does not say where to put the flag.
        if (!Linkage.class.getModule().isNativeAccessEnabled()) {
            LoggerFactory.getLogger(Linkage.class)
                    .warn("Rackcall calls the C library: start Java with --enable-native-access=ALL-UNNAMED, or put"
                            + " Enable-Native-Access: ALL-UNNAMED into the jar's manifest; see docs/jvm-flags.md");
        }
    }

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
     * Native memory as an argument. Unlike a segment argument, it does not keep the memory alive; the caller must do so
     * until the call returns.
     *
     * @throws IllegalArgumentException if it is heap memory
     */
    public static long address(MemorySegment memory) {
        if (!memory.isNative()) {
            throw new IllegalArgumentException("C functions take native memory, not " + memory);
        }
        return memory.address();
    }

    /** Calls a function without arguments. If the result is an {@code int} in C, only its lower half is defined. */
    public static long call(MethodHandle function, MemorySegment errno) {
        return call(function, errno, 0, 0, 0, 0, 0, 0);
    }

    /** With one argument; see {@link #call(MethodHandle, MemorySegment)}. */
    public static long call(MethodHandle function, MemorySegment errno, long a) {
        return call(function, errno, a, 0, 0, 0, 0, 0);
    }

    /** With two arguments; see {@link #call(MethodHandle, MemorySegment)}. */
    public static long call(MethodHandle function, MemorySegment errno, long a, long b) {
        return call(function, errno, a, b, 0, 0, 0, 0);
    }

    /** With three arguments; see {@link #call(MethodHandle, MemorySegment)}. */
    public static long call(MethodHandle function, MemorySegment errno, long a, long b, long c) {
        return call(function, errno, a, b, c, 0, 0, 0);
    }

    /** With four arguments; see {@link #call(MethodHandle, MemorySegment)}. */
    public static long call(MethodHandle function, MemorySegment errno, long a, long b, long c, long d) {
        return call(function, errno, a, b, c, d, 0, 0);
    }

    /** With five arguments; see {@link #call(MethodHandle, MemorySegment)}. */
    public static long call(MethodHandle function, MemorySegment errno, long a, long b, long c, long d, long e) {
        return call(function, errno, a, b, c, d, e, 0);
    }

    /** With six arguments; see {@link #call(MethodHandle, MemorySegment)}. */
    public static long call(
            MethodHandle function, MemorySegment errno, long a, long b, long c, long d, long e, long f) {
        try {
            return (long) function.invokeExact(errno, a, b, c, d, e, f);
        } catch (Throwable t) {
            throw impossible(t);
        }
    }

    /**
     * Makes a system call that has no libc function. Arguments are numbers or addresses; -1 means that errno was set.
     */
    public static long syscall(MemorySegment errno, long number, long a, long b, long c, long d, long e) {
        return call(SYSCALL, errno, number, a, b, c, d, e);
    }

    // ---- other signatures

    /** A libc function of fixed arity. */
    public static MethodHandle libc(String name, MemoryLayout result, MemoryLayout... arguments) {
        return function(LINKER.defaultLookup(), name, result, arguments);
    }

    /** A function of another library. */
    public static MethodHandle function(
            SymbolLookup library, String name, MemoryLayout result, MemoryLayout... arguments) {
        return LINKER.downcallHandle(library.findOrThrow(name), FunctionDescriptor.of(result, arguments), ERRNO);
    }

    /**
     * A function that takes nanoseconds, never blocks, sets no errno and calls no Java code. The thread stays in the
     * Java state, so it costs about as much as a Java call.
     */
    public static MethodHandle critical(SymbolLookup library, String name, FunctionDescriptor signature) {
        return LINKER.downcallHandle(library.findOrThrow(name), signature, Linker.Option.critical(false));
    }

    /** A downcall throws no exception of its own, so {@code thrown} is an error of the VM or a wrong signature. */
    public static AssertionError impossible(Throwable thrown) {
        if (thrown instanceof Error error) {
            throw error;
        }
        return new AssertionError("a downcall threw", thrown);
    }
}
