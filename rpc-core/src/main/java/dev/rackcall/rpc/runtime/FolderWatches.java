package dev.rackcall.rpc.runtime;

import java.io.IOException;
import java.nio.file.ClosedWatchServiceException;
import java.nio.file.FileSystems;
import java.nio.file.Path;
import java.nio.file.StandardWatchEventKinds;
import java.nio.file.WatchKey;
import java.nio.file.WatchService;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The watches of a process, and the thread that waits for the kernel's reports (inotify) on behalf of all of them. It
 * also looks by itself twice a second: a directory may not exist yet, and a kernel may have no more watches for this
 * user. The thread ends with the last watch. Thread-safe.
 */
final class FolderWatches {
    static final FolderWatches SHARED = new FolderWatches(TimeUnit.MILLISECONDS.toNanos(500));

    private static final Logger LOG = LoggerFactory.getLogger(FolderWatches.class);

    private final long lookNanos;
    private final List<FolderWatch> watches = new CopyOnWriteArrayList<>();

    // The following fields are guarded by this object's lock.

    private final Map<Path, WatchKey> keys = new HashMap<>();
    /** Empty without watches, and if the kernel permits none. */
    private Optional<WatchService> kernel = Optional.empty();

    private Thread looking;

    /** @param lookNanos pause between two looks if the kernel reports nothing */
    FolderWatches(long lookNanos) {
        this.lookNanos = lookNanos;
    }

    /** As {@link FolderWatch#start}. */
    synchronized FolderWatch start(Path folder, FolderWatch.Watcher watcher) {
        FolderWatch watch = new FolderWatch(this, folder, watcher);
        if (looking == null) {
            kernel = open();
            looking = Thread.ofPlatform().daemon().name("rackcall-folders").unstarted(this::run);
        }
        register(folder);
        watches.add(watch);
        if (looking.getState() == Thread.State.NEW) {
            try {
                looking.start();
            } catch (RuntimeException | Error e) {
                // No thread: the next watch tries again.
                end(watch);
                throw e;
            }
        }
        return watch;
    }

    private static Optional<WatchService> open() {
        try {
            return Optional.of(FileSystems.getDefault().newWatchService());
        } catch (IOException | UnsupportedOperationException e) {
            LOG.info("the kernel does not report new servers ({}): they are found within a second", e.toString());
            return Optional.empty();
        }
    }

    /** Returns whether the kernel reports changes of that directory from now on, and did not before. */
    private boolean register(Path folder) {
        WatchKey present = keys.get(folder);
        if (kernel.isEmpty() || (present != null && present.isValid())) {
            return false;
        }
        try {
            keys.put(
                    folder,
                    folder.register(
                            kernel.get(), StandardWatchEventKinds.ENTRY_CREATE, StandardWatchEventKinds.ENTRY_DELETE));
            return true;
        } catch (IOException e) {
            // It does not exist, or the kernel has no more watches for this user.
            keys.remove(folder);
            return false;
        }
    }

    synchronized void end(FolderWatch watch) {
        watches.remove(watch);
        if (watches.isEmpty()) {
            // Wakes the thread.
            closeKernel();
        } else if (watches.stream().noneMatch(other -> other.folder().equals(watch.folder()))) {
            Optional.ofNullable(keys.remove(watch.folder())).ifPresent(WatchKey::cancel);
        }
    }

    private void closeKernel() {
        keys.clear();
        kernel.ifPresent(service -> {
            try {
                service.close();
            } catch (IOException e) {
                LOG.debug("a watch of directories could not be closed", e);
            }
        });
        kernel = Optional.empty();
        LockSupport.unpark(looking);
        looking = null;
    }

    // ---- the thread

    private void run() {
        Optional<WatchService> service = mine();
        while (isMine()) {
            try {
                Set<Path> changed = await(service);
                changed.addAll(registerAll());
                for (FolderWatch watch : watches) {
                    watch.look(changed.contains(watch.folder()));
                }
            } catch (RuntimeException | Error e) {
                // If it were rethrown, it would end all watches for good. The pause keeps a lasting failure from
                // filling the log.
                LOG.warn("looking for changes of directories failed; it is repeated", e);
                LockSupport.parkNanos(lookNanos);
            }
        }
    }

    private synchronized Optional<WatchService> mine() {
        return kernel;
    }

    private synchronized boolean isMine() {
        return looking == Thread.currentThread();
    }

    /** Waits for a report; returns the directories that have changed. */
    private Set<Path> await(Optional<WatchService> service) {
        Set<Path> changed = new HashSet<>();
        try {
            if (service.isEmpty()) {
                LockSupport.parkNanos(lookNanos);
                return changed;
            }
            WatchKey key = service.get().poll(lookNanos, TimeUnit.NANOSECONDS);
            for (; key != null; key = service.get().poll()) {
                key.pollEvents();
                key.reset();
                changed.add((Path) key.watchable());
            }
            return changed;
        } catch (ClosedWatchServiceException | InterruptedException e) {
            // The last watch has ended, which the caller checks. Nothing interrupts this thread.
            return changed;
        }
    }

    /** Registers directories that did not exist before; returns them. */
    private synchronized Set<Path> registerAll() {
        Set<Path> added = new HashSet<>();
        for (FolderWatch watch : watches) {
            if (register(watch.folder())) {
                added.add(watch.folder());
            }
        }
        return added;
    }
}
