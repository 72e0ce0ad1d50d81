package dev.rackcall.sandbox.os;

import dev.rackcall.shm.os.Errno;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * A small native signal handler. When a thread accesses a closed page of a registered mapping, the handler passes the
 * SIGSEGV to the JVM as a SIGBUS: the thread gets an {@link InternalError}, and the JVM does not end.
 * {@link PageProtection} and protection keys need it. Every other signal reaches the JVM unchanged.
 *
 * <p>Built with the machine's C compiler when it is first needed, and kept; see {@link GuardBuild}. Once installed, it
 * stays for the life of the process. Thread-safe.
 */
public final class Guard {
    private static Guard installed;

    private final LibGuard library;

    private Guard(LibGuard library) {
        this.library = library;
    }

    /**
     * The guard, installed now or before.
     *
     * @throws UnsupportedFeatureException if there is no C compiler, or no place to keep the library, or it cannot be
     *     loaded
     */
    public static synchronized Guard install() {
        if (installed == null) {
            LibGuard library = load(new GuardBuild(System.getenv()));
            int errno = library.install();
            if (errno != 0) {
                throw new UnsupportedFeatureException(
                        "The guard is off: its handler could not be installed (" + Errno.name(errno) + ").");
            }
            installed = new Guard(library);
        }
        return installed;
    }

    /** Builds and loads it without installing it, for a report of what this host can do. */
    public static void tryBuild() {
        load(new GuardBuild(System.getenv()));
    }

    /** The guard, if it is installed. */
    public static synchronized Optional<Guard> installed() {
        return Optional.ofNullable(installed);
    }

    private static LibGuard load(GuardBuild build) {
        LibGuard library;
        try {
            library = new LibGuard(build.library());
        } catch (IllegalArgumentException e) {
            throw new UnsupportedFeatureException(
                    "The guard is off: its library cannot be loaded (" + e.getMessage()
                            + "); is the cache folder on a file system without execution?",
                    e);
        }
        if (library.version() != LibGuard.VERSION) {
            throw new UnsupportedFeatureException("The guard is off: its library is of version " + library.version()
                    + ", not " + LibGuard.VERSION + "; empty the cache folder.");
        }
        return library;
    }

    /** A mapping whose faults are turned into errors until this is closed. */
    public final class Registration implements AutoCloseable {
        private final int handle;
        private boolean open = true;

        private Registration(int handle) {
            this.handle = handle;
        }

        @Override
        public void close() {
            synchronized (Guard.this) {
                if (open) {
                    open = false;
                    library.remove(handle);
                }
            }
        }
    }

    /**
     * Turns faults in this mapping into errors. Close the registration before the mapping is unmapped.
     *
     * @throws IllegalStateException if 1,024 mappings are registered already
     */
    public synchronized Registration register(long address, long bytes) {
        int handle = library.add(address, address + bytes);
        if (handle < 0) {
            throw new IllegalStateException("the guard watches as many mappings as it can; close some first");
        }
        return new Registration(handle);
    }

    /** Returns and forgets the address of the calling thread's last refused access to a registered mapping. */
    public OptionalLong takeFault() {
        long address = library.takeFault();
        return address == 0 ? OptionalLong.empty() : OptionalLong.of(address);
    }

    LibGuard library() {
        return library;
    }
}
