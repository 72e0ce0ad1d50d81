package dev.rackcall.shm;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

/** Whoever raises a version has the page with the layouts in mind. */
class LayoutPageTest {
    @Test
    void shouldNameTheVersionsOfPoolsAndArenas() throws IOException {
        String page = Files.readString(Path.of("..", "docs", "memory-layout.md"));
        assertThat(section(page, "## Pool (")).contains("| layout version (" + PoolLayout.VERSION + ") |");
        assertThat(section(page, "## Arena (")).contains("| layout version (" + ArenaLayout.VERSION + ") |");
    }

    private static String section(String page, String title) {
        int begin = page.indexOf("\n" + title);
        assertThat(begin).as(title).isNotNegative();
        return page.substring(begin, page.indexOf("\n## ", begin + 1));
    }
}
