package dev.rackcall.rpc.runtime;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Notices at once when servers are added to or removed from a runtime directory. The process has one thread for all its
 * watches, see {@link FolderWatches}.
 */
public final class FolderWatch implements AutoCloseable {
    /** Gets the changes. Called by the thread of all watches, so it must not block. */
    @FunctionalInterface
    public interface Watcher {
        /**
         * Called at each change, and at least twice a second.
         *
         * @param changed whether files were added or removed since the last call
         */
        void look(boolean changed);
    }

    private static final Logger LOG = LoggerFactory.getLogger(FolderWatch.class);
    private static final FileTime ABSENT = FileTime.fromMillis(0);

    private final FolderWatches all;
    private final Path folder;
    private final Watcher watcher;
    private FileTime last = ABSENT;
    private boolean changedLast;

    FolderWatch(FolderWatches all, Path folder, Watcher watcher) {
        this.all = all;
        this.folder = folder;
        this.watcher = watcher;
    }

    /** Watches until it is closed. The first call reports a change. */
    public static FolderWatch start(Path folder, Watcher watcher) {
        return FolderWatches.SHARED.start(folder, watcher);
    }

    Path folder() {
        return folder;
    }

    /** Called by the thread of all watches. {@code notified} tells whether the kernel has reported a change. */
    void look(boolean notified) {
        try {
            // The kernel reports nothing of a directory that did not exist, or if it had too much to report.
            FileTime now = modified();
            boolean changed = !now.equals(last);
            last = now;
            // A change is reported twice: the file system's clock may stand still between two changes.
            boolean due = notified || changed || changedLast;
            changedLast = changed;
            watcher.look(due);
        } catch (RuntimeException | Error e) {
            // If it were rethrown, it would end the thread of all watches.
            LOG.warn("looking for servers in {} failed; it is repeated", folder, e);
        }
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
        all.end(this);
    }
}
