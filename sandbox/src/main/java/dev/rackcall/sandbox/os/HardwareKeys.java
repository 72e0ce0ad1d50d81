package dev.rackcall.sandbox.os;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import dev.rackcall.shm.os.CallState;
import dev.rackcall.shm.os.Linkage;
import dev.rackcall.shm.os.OsException;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.SymbolLookup;
import java.lang.invoke.MethodHandle;
import java.util.NoSuchElementException;

/**
 * x86's protection keys, pkeys(7). The register of rights is written by the guard's library, which must be installed anyway: without it an access to a
 * closed page would end the JVM, and threads that the JVM made before a key was allocated could not reach its pages.
 */
public final class HardwareKeys implements MemoryKeys {
    private final MethodHandle alloc;
    private final MethodHandle free;
    private final MethodHandle mprotect;
    private final MethodHandle keys;
    private final MethodHandle enter;
    private final MethodHandle leave;

    private HardwareKeys(SymbolLookup guard) {
        alloc = Linkage.libc("pkey_alloc", JAVA_INT, JAVA_INT, JAVA_INT);
        free = Linkage.libc("pkey_free", JAVA_INT, JAVA_INT);
        mprotect = Linkage.libc("pkey_mprotect", JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_INT, JAVA_INT);
        keys = Linkage.critical(guard, "guard_keys", FunctionDescriptor.of(JAVA_INT, JAVA_INT));
        enter = Linkage.critical(guard, "guard_enter", FunctionDescriptor.of(JAVA_INT, JAVA_INT));
        leave = Linkage.critical(guard, "guard_leave", FunctionDescriptor.ofVoid(JAVA_INT));
    }

    /**
     * The keys of this processor.
     *
     * @throws UnsupportedFeatureException if the processor or the kernel has none, or the guard is off
     */
    public static HardwareKeys open() {
        requireProcessor();
        try {
            return new HardwareKeys(Guard.install().library().library());
        } catch (NoSuchElementException e) {
            throw new UnsupportedFeatureException(
                    "This C library or processor architecture has no protection keys.", e);
        }
    }

    /**
     * Asks for one key, and gives it back.
     *
     * @throws UnsupportedFeatureException if there is none
     */
    public static void requireProcessor() {
        CallState state = CallState.current();
        int key;
        try {
            MethodHandle allocate = Linkage.libc("pkey_alloc", JAVA_INT, JAVA_INT, JAVA_INT);
            key = (int) allocate.invokeExact(state.errnoSegment(), 0, 0);
            if (key >= 0) {
                MethodHandle release = Linkage.libc("pkey_free", JAVA_INT, JAVA_INT);
                int ignored = (int) release.invokeExact(state.errnoSegment(), key);
                return;
            }
        } catch (NoSuchElementException e) {
            throw new UnsupportedFeatureException("This C library has no protection keys; glibc 2.27 or newer has.", e);
        } catch (Throwable t) {
            throw Linkage.impossible(t);
        }
        throw new UnsupportedFeatureException(
                "This processor or kernel has no protection keys, or all are taken; handlers that use native code lack a second wall.",
                state.failure("pkey_alloc"));
    }

    @Override
    public int allocate() {
        try {
            return (int) alloc.invokeExact(CallState.current().errnoSegment(), 0, 0);
        } catch (Throwable t) {
            throw Linkage.impossible(t);
        }
    }

    @Override
    public void free(int key) {
        try {
            int ignored = (int) free.invokeExact(CallState.current().errnoSegment(), key);
        } catch (Throwable t) {
            throw Linkage.impossible(t);
        }
    }

    @Override
    public void assign(long address, long bytes, int key) {
        CallState state = CallState.current();
        int protection = LibcProtection.PROT_READ | LibcProtection.PROT_WRITE;
        int result;
        try {
            result = (int) mprotect.invokeExact(state.errnoSegment(), address, bytes, protection, key);
        } catch (Throwable t) {
            throw Linkage.impossible(t);
        }
        if (result != 0) {
            throw new OsException("giving key " + key + " to " + Userfault.range(address, bytes), state.errno());
        }
    }

    @Override
    public void use(int bits) {
        int result;
        try {
            result = (int) keys.invokeExact(bits);
        } catch (Throwable t) {
            throw Linkage.impossible(t);
        }
        if (result != 0) {
            throw new UnsupportedFeatureException(
                    "This processor does not say where signals keep the rights of protection keys.");
        }
    }

    @Override
    public int enter(int closed) {
        try {
            return (int) enter.invokeExact(closed);
        } catch (Throwable t) {
            throw Linkage.impossible(t);
        }
    }

    @Override
    public void leave(int before) {
        try {
            leave.invokeExact(before);
        } catch (Throwable t) {
            throw Linkage.impossible(t);
        }
    }
}
