package dev.rackcall.verbs.ffi;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.invoke.MethodHandle;
import java.util.Optional;

/** A shared library that may be missing. Calling a function of a missing library fails with its name. */
public final class NativeLibrary {
    private static final Linker LINKER = Linker.nativeLinker();
    private static final Linker.Option ERRNO = Linker.Option.captureCallState("errno");

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

    /** One of its functions. The handle's first argument is the memory that receives errno. */
    MethodHandle downcall(String function, FunctionDescriptor descriptor) {
        MemorySegment address = symbols.flatMap(all -> all.find(function))
                .orElseThrow(() -> new UnsatisfiedLinkError(name + " has no " + function));
        return LINKER.downcallHandle(address, descriptor, ERRNO);
    }

    /** A function whose address is the handle's first argument. Not critical: rxe's doorbell is a system call. */
    static MethodHandle pointer(FunctionDescriptor descriptor) {
        return LINKER.downcallHandle(descriptor);
    }

    /** A downcall throws only if the binding itself is wrong. */
    static AssertionError impossible(Throwable cause) {
        if (cause instanceof LinkageError missing) {
            throw missing;
        }
        return new AssertionError("a downcall failed", cause);
    }
}
