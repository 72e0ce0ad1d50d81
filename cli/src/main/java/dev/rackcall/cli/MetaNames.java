package dev.rackcall.cli;

import dev.rackcall.cp.ControlAddress;
import dev.rackcall.cp.ControlPlaneException;
import dev.rackcall.cp.ControlPlaneException.Kind;
import dev.rackcall.cp.meta.MetaDirectory;
import dev.rackcall.directory.Directory;
import dev.rackcall.directory.DirectoryException;
import dev.rackcall.directory.DirectoryException.Reason;
import java.net.URI;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/**
 * The directory in which an agent process finds the meta server and announces its own one. If it does not answer when
 * the process starts, because hosts boot in any order, it is retried in the background. Thread-safe.
 */
final class MetaNames implements Supplier<ControlAddress>, AutoCloseable {
    private static final long RETRY_SECONDS = 2;

    private final URI address;
    private final Optional<ControlAddress> own;
    private final String host;
    private final CountDownLatch closing = new CountDownLatch(1);
    private volatile Optional<MetaDirectory> names = Optional.empty();
    private volatile String silence = "";
    /** Guarded by the monitor. */
    private Optional<Directory> members = Optional.empty();

    private MetaNames(URI address, Optional<ControlAddress> own, String host) {
        this.address = address;
        this.own = own;
        this.host = host;
    }

    /**
     * Asks the directory once, and retries in the background if it does not answer.
     *
     * @param own this process's meta server, which is announced
     * @param host its host, for messages
     * @throws DirectoryException if the address is wrong, so that a retry would not help
     */
    static MetaNames open(URI address, Optional<ControlAddress> own, String host) {
        MetaNames opened = new MetaNames(address, own, host);
        try {
            opened.join();
        } catch (DirectoryException e) {
            if (e.reason() != Reason.UNAVAILABLE) {
                throw e;
            }
            opened.heard(e);
            Thread.ofPlatform().daemon().name("rackcall-meta-directory").start(opened::keepTrying);
        }
        return opened;
    }

    private void join() {
        Directory found = Directory.open(address);
        try {
            if (!become(found)) {
                found.close();
            }
        } catch (RuntimeException e) {
            found.close();
            throw e;
        }
    }

    /** Takes the directory over; returns false if this object was closed. */
    private synchronized boolean become(Directory found) {
        if (closing.getCount() == 0) {
            return false;
        }
        MetaDirectory following = MetaDirectory.follow(found);
        own.ifPresent(each -> following.announce(each, host));
        members = Optional.of(found);
        names = Optional.of(following);
        return true;
    }

    private void heard(RuntimeException failure) {
        silence = "the directory " + address + " does not answer and is asked again every " + RETRY_SECONDS + " s: "
                + (failure instanceof DirectoryException ? failure.getMessage() : failure);
    }

    private void keepTrying() {
        try {
            while (names.isEmpty() && !closing.await(RETRY_SECONDS, TimeUnit.SECONDS)) {
                try {
                    join();
                } catch (RuntimeException e) {
                    // Any exception is retried, because the message promises it.
                    heard(e);
                }
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** Waits until the directory names a meta server, if it has answered. */
    void await(Duration atMost) throws InterruptedException {
        if (names.isPresent()) {
            names.get().await(atMost);
        }
    }

    /**
     * The address of the meta server that the directory names, which another process may have announced before this
     * one.
     *
     * @throws ControlPlaneException UNREACHABLE if the directory names none, or has not answered yet, and this process
     *     has none
     */
    @Override
    public ControlAddress get() {
        Optional<MetaDirectory> asked = names;
        if (own.isPresent()) {
            return asked.flatMap(MetaDirectory::current).orElseGet(own::get);
        }
        return asked.orElseThrow(() -> new ControlPlaneException(Kind.UNREACHABLE, silence))
                .get();
    }

    /** The reason why this process's meta server is not named; empty if it is. */
    Optional<String> problem() {
        if (own.isEmpty()) {
            return Optional.empty();
        }
        Optional<MetaDirectory> asked = names;
        return asked.isPresent() ? asked.get().problem() : Optional.of(silence);
    }

    /** Withdraws this process's meta server and leaves the directory. */
    @Override
    public void close() {
        closing.countDown();
        synchronized (this) {
            try {
                names.ifPresent(MetaDirectory::close);
            } finally {
                members.ifPresent(Directory::close);
            }
        }
    }
}
