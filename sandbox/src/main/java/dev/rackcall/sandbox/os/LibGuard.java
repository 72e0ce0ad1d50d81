package dev.rackcall.sandbox.os;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import dev.rackcall.shm.os.CallState;
import dev.rackcall.shm.os.Linkage;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.SymbolLookup;
import java.lang.invoke.MethodHandle;
import java.nio.file.Path;

/** C mirror: guard.c. Its functions take nanoseconds and never block. */
final class LibGuard {
    /** The version of guard.c that belongs to this class. */
    static final int VERSION = 1;

    private final MethodHandle version;
    private final MethodHandle install;
    private final MethodHandle add;
    private final MethodHandle remove;
    private final MethodHandle takeFault;
    private final SymbolLookup library;

    /** Loads it permanently: a signal handler cannot be unloaded. */
    LibGuard(Path file) {
        library = SymbolLookup.libraryLookup(file, Arena.global());
        version = Linkage.function(library, "guard_version");
        install = Linkage.function(library, "guard_install");
        add = Linkage.function(library, "guard_add");
        remove = Linkage.function(library, "guard_remove");
        takeFault = Linkage.critical(library, "guard_take_fault", FunctionDescriptor.of(JAVA_LONG));
    }

    SymbolLookup library() {
        return library;
    }

    int version() {
        return (int) Linkage.call(version, CallState.current().errnoSegment());
    }

    int install() {
        return (int) Linkage.call(install, CallState.current().errnoSegment());
    }

    int add(long start, long end) {
        return (int) Linkage.call(add, CallState.current().errnoSegment(), start, end);
    }

    void remove(int handle) {
        Linkage.call(remove, CallState.current().errnoSegment(), handle);
    }

    long takeFault() {
        try {
            return (long) takeFault.invokeExact();
        } catch (Throwable t) {
            throw Linkage.impossible(t);
        }
    }
}
