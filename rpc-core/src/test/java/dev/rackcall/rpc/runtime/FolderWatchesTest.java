package dev.rackcall.rpc.runtime;

import static org.assertj.core.api.Assertions.assertThat;

import dev.rackcall.testkit.Await;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** How changes of a directory are noticed. */
@Timeout(200)
class FolderWatchesTest {
    @TempDir
    private Path parent;

    private final AtomicInteger changes = new AtomicInteger();

    /** Looks that found nothing new. */
    private final AtomicInteger quietLooks = new AtomicInteger();

    private void count(boolean changed) {
        (changed ? changes : quietLooks).incrementAndGet();
    }

    /**
     * Waits until what was done before was seen and is not reported again. The second report of a change could be taken
     * for one of the next change, which is never seen if it is undone before the next look.
     */
    private void settle() {
        int before = quietLooks.get();
        // The first of them may have begun earlier.
        Await.until("looks that find nothing new", () -> quietLooks.get() > before + 1);
    }

    /** Its own looks are an hour apart, so only the kernel's reports can tell it. */
    @Test
    void shouldHearOfChangesFromTheKernel() throws Exception {
        FolderWatches watches = new FolderWatches(TimeUnit.HOURS.toNanos(1));
        try (FolderWatch watch = watches.start(parent, this::count)) {
            assertThat(watch.folder()).isEqualTo(parent);
            Path file = Files.createFile(parent.resolve("one"));
            Await.until("the new file is noticed", () -> changes.get() > 0);
            int before = changes.get();
            Files.delete(file);
            Await.until("that it is gone is noticed", () -> changes.get() > before);
        }
    }

    @Test
    void shouldKeepTheReportsForTheOtherWatchesOfADirectory() throws Exception {
        FolderWatches watches = new FolderWatches(TimeUnit.HOURS.toNanos(1));
        FolderWatch ended = watches.start(parent, changed -> {});
        try (FolderWatch watch = watches.start(parent, this::count)) {
            assertThat(watch.folder()).isEqualTo(parent);
            ended.close();
            Files.createFile(parent.resolve("one"));
            Await.until("the new file is noticed", () -> changes.get() > 0);
        }
    }

    /** The last server of a directory removes it, and the next one makes it again. */
    @Test
    void shouldFindADirectoryThatIsMadeAgain() throws Exception {
        FolderWatches watches = new FolderWatches(TimeUnit.MILLISECONDS.toNanos(1));
        Path folder = parent.resolve("servers");
        try (FolderWatch watch = watches.start(folder, this::count)) {
            assertThat(watch.folder()).isEqualTo(folder);
            for (int i = 0; i < 3; i++) {
                settle();
                int absent = changes.get();
                Files.createDirectory(folder);
                Await.until("the new directory is noticed", () -> changes.get() > absent);
                settle();
                int there = changes.get();
                Files.delete(folder);
                Await.until("that it is gone is noticed", () -> changes.get() > there);
            }
        }
    }

    @Test
    void shouldStartAgainAfterTheLastWatch() throws Exception {
        FolderWatches watches = new FolderWatches(TimeUnit.HOURS.toNanos(1));
        for (int i = 0; i < 3; i++) {
            int before = changes.get();
            try (FolderWatch watch = watches.start(parent, this::count)) {
                assertThat(watch.folder()).isEqualTo(parent);
                Files.createFile(parent.resolve("file" + i));
                Await.until("the new file is noticed", () -> changes.get() > before);
            }
        }
    }
}
