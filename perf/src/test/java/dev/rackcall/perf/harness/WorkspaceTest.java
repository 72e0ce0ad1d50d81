package dev.rackcall.perf.harness;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Instant;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class WorkspaceTest {
    @TempDir
    private Path parent;

    @Test
    void shouldLeaveNothingBehind() throws IOException {
        try (Workspace workspace = Workspace.create(parent)) {
            Files.writeString(workspace.newPart().resolve("file"), "x");
            assertThat(workspace.newPart()).isNotEqualTo(workspace.newPart());
        }
        assertThat(parent).isEmptyDirectory();
    }

    @Test
    void shouldDeleteWhatADeadRunLeftAndSpareALiveOne() throws IOException {
        Path dead = Files.createDirectory(parent.resolve("rackcall-bench-dead"));
        Files.createFile(dead.resolve("owner.lock"));
        Files.createDirectory(dead.resolve("0"));
        Path old = Files.createDirectory(parent.resolve("rackcall-bench-old"));
        Files.setLastModifiedTime(old, FileTime.from(Instant.now().minusSeconds(3600)));
        Path fresh = Files.createDirectory(parent.resolve("rackcall-bench-fresh"));
        Path foreign = Files.createDirectory(parent.resolve("something-else"));

        try (Workspace live = Workspace.create(parent);
                Workspace second = Workspace.create(parent)) {
            assertThat(dead).doesNotExist();
            assertThat(old).doesNotExist();
            assertThat(fresh).exists();
            assertThat(foreign).exists();
            assertThat(live.directory()).exists();
            assertThat(second.directory()).exists();
        }
    }
}
