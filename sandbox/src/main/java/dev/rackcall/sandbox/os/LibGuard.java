package dev.rackcall.sandbox.os;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import dev.rackcall.shm.os.Linkage;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.SymbolLookup;
import java.lang.invoke.MethodHandle;
import java.nio.file.Path;

/** C mirror: guard.c. Its functions take nanoseconds and never block. */
final class LibGuard {
    /** Of guard.c as it belongs to this class. */
    static final int VERSION = 1;

    private final MethodHandle version;
    private final MethodHandle install;
    private final MethodHandle add;
    private final MethodHandle remove;
    private final MethodHandle takeFault;
    private final SymbolLookup library;

    /** Loads it for good: a handler of signals cannot be unloaded. */
    LibGuard(Path file) {
        library = SymbolLookup.libraryLookup(file, Arena.global());
        version = Linkage.critical(library, "guard_version", FunctionDescriptor.of(JAVA_INT));
        install = Linkage.critical(library, "guard_install", FunctionDescriptor.of(JAVA_INT));
        add = Linkage.critical(library, "guard_add", FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG));
        remove = Linkage.critical(library, "guard_remove", FunctionDescriptor.ofVoid(JAVA_INT));
        takeFault = Linkage.critical(library, "guard_take_fault", FunctionDescriptor.of(JAVA_LONG));
    }

    SymbolLookup library() {
        return library;
    }

    int version() {
        try {
            return (int) version.invokeExact();
        } catch (Throwable t) {
            throw Linkage.impossible(t);
        }
    }

    int install() {
        try {
            return (int) install.invokeExact();
        } catch (Throwable t) {
            throw Linkage.impossible(t);
        }
    }

    int add(long start, long end) {
        try {
            return (int) add.invokeExact(start, end);
        } catch (Throwable t) {
            throw Linkage.impossible(t);
        }
    }

    void remove(int handle) {
        try {
            remove.invokeExact(handle);
        } catch (Throwable t) {
            throw Linkage.impossible(t);
        }
    }

    long takeFault() {
        try {
            return (long) takeFault.invokeExact();
        } catch (Throwable t) {
            throw Linkage.impossible(t);
        }
    }
}
