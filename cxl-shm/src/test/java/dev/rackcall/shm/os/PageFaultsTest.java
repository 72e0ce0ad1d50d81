package dev.rackcall.shm.os;

import static org.assertj.core.api.Assertions.assertThat;

import dev.rackcall.shm.os.file.Mapping;
import dev.rackcall.shm.os.file.SharedFile;
import java.lang.foreign.ValueLayout;
import org.junit.jupiter.api.Test;

class PageFaultsTest {
    private static final int PAGES = 500;
    private static final int PAGE = 4096;

    @Test
    void shouldCountTheFirstStoresToFreshPages() {
        try (SharedFile file = SharedFile.memfd("page-faults", (long) PAGES * PAGE);
                Mapping mapping = file.map()) {
            long before = PageFaults.ofThisThread();
            for (long page = 0; page < PAGES; page++) {
                mapping.memory().set(ValueLayout.JAVA_LONG, page * PAGE, 1);
            }
            // A kernel that provides such memory in larger pieces needs fewer faults.
            assertThat(PageFaults.ofThisThread() - before).isPositive();

            long warm = PageFaults.ofThisThread();
            for (long page = 0; page < PAGES; page++) {
                mapping.memory().set(ValueLayout.JAVA_LONG, page * PAGE, 2);
            }
            assertThat(PageFaults.ofThisThread() - warm).isLessThan(PAGES);
        }
    }
}
