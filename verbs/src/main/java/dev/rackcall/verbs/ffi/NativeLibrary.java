package dev.rackcall.verbs.ffi;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.invoke.MethodHandle;
import java.util.Optional;

/** A shared library that may be missing. Looking up a function of a missing library fails with its name. */
public final class NativeLibrary {
    private static final Linker LINKER = Linker.nativeLinker();
    private static final Linker.Option ERRNO = Linker.Option.captureCallState("errno");
    /**
     * All functions share this signature, because the JVM generates code for each new signature. Arguments and results
     * are in 64-bit registers, and a function reads only the registers and bits that it declares.
     */
    private static final FunctionDescriptor SIX_NUMBERS =
            FunctionDescriptor.of(JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG);

    private static final MethodHandle POINTER =
            LINKER.downcallHandle(FunctionDescriptor.of(JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG));

    /** The verbs. */
    public static final NativeLibrary IBVERBS = named("libibverbs.so.1");
    /** The C library. */
    public static final NativeLibrary C = new NativeLibrary("the C library", Optional.of(LINKER.defaultLookup()));

    private final String name;
    private final Optional<SymbolLookup> symbols;

    private NativeLibrary(String name, Optional<SymbolLookup> symbols) {
        this.name = name;
        this.symbols = symbols;
    }

    /** The library with this file name, if the dynamic linker finds it. */
    public static NativeLibrary named(String name) {
        try {
            return new NativeLibrary(name, Optional.of(SymbolLookup.libraryLookup(name, Arena.global())));
        } catch (IllegalArgumentException missing) {
            return new NativeLibrary(name, Optional.empty());
        }
    }

    /** Whether the dynamic linker finds it. */
    public boolean isPresent() {
        return symbols.isPresent();
    }

    /** Its file name. */
    public String name() {
        return name;
    }

    /** One of its functions, of at most six integers and addresses, for {@link #call}. */
    MethodHandle function(String function) {
        MemorySegment address = symbols.flatMap(all -> all.find(function))
                .orElseThrow(() -> new UnsatisfiedLinkError(name + " has no " + function));
        return LINKER.downcallHandle(address, SIX_NUMBERS, ERRNO);
    }

    /**
     * Calls a function; {@link CapturedErrno} has its errno. If the result is an {@code int} in C, only its lower half
     * is defined.
     */
    static long call(MethodHandle function, long a, long b, long c, long d, long e, long f) {
        try {
            return (long) function.invokeExact(CapturedErrno.current(), a, b, c, d, e, f);
        } catch (Throwable thrown) {
            throw impossible(thrown);
        }
    }

    /** Calls a function by its address. Not critical: rxe's doorbell is a system call. */
    static long call(MemorySegment function, long a, long b, long c) {
        try {
            return (long) POINTER.invokeExact(function, a, b, c);
        } catch (Throwable thrown) {
            throw impossible(thrown);
        }
    }

    /** A downcall throws only if the binding itself is wrong. */
    private static AssertionError impossible(Throwable thrown) {
        if (thrown instanceof Error error) {
            throw error;
        }
        return new AssertionError("a downcall failed", thrown);
    }
}
