package dev.rackcall.sandbox.os;

import static java.lang.foreign.ValueLayout.JAVA_INT;

import dev.rackcall.shm.os.CallState;
import dev.rackcall.shm.os.Linkage;
import dev.rackcall.shm.os.OsException;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.SymbolLookup;
import java.lang.invoke.MethodHandle;
import java.util.NoSuchElementException;

/**
 * x86's protection keys, pkeys(7). The guard's library writes the register of rights. The guard must be installed
 * anyway: without it, an access to a closed page would end the JVM, and threads that were started before a key was
 * allocated could not reach its pages.
 */
public final class HardwareKeys implements MemoryKeys {
    private final MethodHandle alloc;
    private final MethodHandle free;
    private final MethodHandle mprotect;
    private final MethodHandle keys;
    private final MethodHandle enter;
    private final MethodHandle leave;

    private HardwareKeys(SymbolLookup guard) {
        alloc = Linkage.libc("pkey_alloc");
        free = Linkage.libc("pkey_free");
        mprotect = Linkage.libc("pkey_mprotect");
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
     * Checks that a key can be allocated, and frees it again.
     *
     * @throws UnsupportedFeatureException if no key can be allocated
     */
    public static void requireProcessor() {
        CallState state = CallState.current();
        try {
            int key = (int) Linkage.call(Linkage.libc("pkey_alloc"), state.errnoSegment());
            if (key < 0) {
                throw new UnsupportedFeatureException(
                        "This processor or kernel has no protection keys, or all are taken; handlers that use native code lack a second wall.",
                        state.failure("pkey_alloc"));
            }
            Linkage.call(Linkage.libc("pkey_free"), state.errnoSegment(), key);
        } catch (NoSuchElementException e) {
            throw new UnsupportedFeatureException("This C library has no protection keys; glibc 2.27 or newer has.", e);
        }
    }

    @Override
    public int allocate() {
        return (int) Linkage.call(alloc, CallState.current().errnoSegment());
    }

    @Override
    public void free(int key) {
        Linkage.call(free, CallState.current().errnoSegment(), key);
    }

    @Override
    public void assign(long address, long bytes, int key) {
        CallState state = CallState.current();
        int protection = LibcPages.PROT_READ | LibcPages.PROT_WRITE;
        if ((int) Linkage.call(mprotect, state.errnoSegment(), address, bytes, protection, key) != 0) {
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
