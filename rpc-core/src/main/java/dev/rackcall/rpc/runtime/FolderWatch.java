package dev.rackcall.rpc.runtime;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Notices when servers are added to or removed from a runtime directory. One timer thread of the process reads the
 * directory's modification time twice a second, as long as there is a watch.
 */
public final class FolderWatch implements AutoCloseable {
    /** Gets the changes. Called by the timer thread, so it must not block. */
    @FunctionalInterface
    public interface Watcher {
        /** @param changed whether files were added or removed since the last call */
        void look(boolean changed);
    }

    private static final Logger LOG = LoggerFactory.getLogger(FolderWatch.class);
    private static final long LOOK_MILLIS = 500;
    private static final FileTime ABSENT = FileTime.fromMillis(0);
    private static final ScheduledExecutorService CLOCK = Executors.newSingleThreadScheduledExecutor(
            Thread.ofPlatform().daemon().name("rackcall-folders").factory());
    private static final List<FolderWatch> WATCHES = new CopyOnWriteArrayList<>();
    /** Guarded by the class. */
    private static Future<?> ticks;

    private final Path folder;
    private final Watcher watcher;
    private FileTime last = ABSENT;
    private boolean changedLast;

    private FolderWatch(Path folder, Watcher watcher) {
        this.folder = folder;
        this.watcher = watcher;
    }

    /** Watches until it is closed. The first call reports a change. */
    public static FolderWatch start(Path folder, Watcher watcher) {
        FolderWatch watch = new FolderWatch(folder, watcher);
        synchronized (FolderWatch.class) {
            WATCHES.add(watch);
            if (ticks == null) {
                ticks = CLOCK.scheduleWithFixedDelay(
                        FolderWatch::tick, LOOK_MILLIS, LOOK_MILLIS, TimeUnit.MILLISECONDS);
            }
        }
        return watch;
    }

    private static void tick() {
        for (FolderWatch watch : WATCHES) {
            try {
                watch.look();
            } catch (RuntimeException | Error e) {
                // One that leaves the task would end it for all watches.
                LOG.warn("looking for servers in {} failed; it is repeated", watch.folder, e);
            }
        }
    }

    private void look() {
        FileTime now = modified();
        boolean changed = !now.equals(last);
        last = now;
        // A change is reported twice: the file system's clock may stand still between two changes.
        boolean due = changed || changedLast;
        changedLast = changed;
        watcher.look(due);
    }

    private FileTime modified() {
        try {
            return Files.getLastModifiedTime(folder, LinkOption.NOFOLLOW_LINKS);
        } catch (IOException e) {
            return ABSENT;
        }
    }

    /** Ends the watch; a call that is running continues. Idempotent. */
    @Override
    public void close() {
        synchronized (FolderWatch.class) {
            WATCHES.remove(this);
            if (WATCHES.isEmpty() && ticks != null) {
                ticks.cancel(false);
                ticks = null;
            }
        }
    }
}
