package dev.rackcall.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ChildJvmTest {
    @TempDir
    private Path folder;

    /** Repeats what it reads, and ends with the exit code that it is given when its input ends. */
    static final class Parrot {
        private Parrot() {}

        public static void main(String[] arguments) throws IOException {
            System.out.println("runs in " + Path.of("").toAbsolutePath() + " with " + System.getenv("RACKCALL_DIR"));
            System.err.println("to standard error");
            BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
            for (String line = in.readLine(); line != null; line = in.readLine()) {
                System.out.println("heard " + line);
            }
            System.exit(Integer.parseInt(arguments[0]));
        }
    }

    private ChildJvm parrot() {
        return ChildJvm.of(Parrot.class, 3)
                .in(folder)
                .directory(folder)
                .mergingErrors()
                .start();
    }

    @Test
    void shouldTalkToItUntilItsInputEnds() throws Exception {
        try (ChildJvm child = parrot()) {
            assertThat(child.awaitLine("runs in")).isEqualTo("runs in " + folder.toRealPath() + " with " + folder);
            child.send("one");
            child.send("two");
            assertThat(child.awaitLine("heard t")).isEqualTo("heard two");
            assertThat(child.isAlive()).isTrue();
            assertThat(child.end()).isEqualTo(3);
            assertThat(child.output()).contains("to standard error\n").endsWith("heard one\nheard two\n");
            assertThatThrownBy(child::awaitLine)
                    .isInstanceOf(AssertionError.class)
                    .hasMessageContainingAll("Parrot, exit code 3) ended before it printed ''");
        }
    }

    @Test
    void shouldStopAndResumeItAndKillItWhenClosed() throws Exception {
        ChildJvm child = parrot();
        try (child) {
            child.awaitLine("runs in");
            child.pause();
            child.send("one");
            assertThatThrownBy(() -> child.awaitLine("heard", Duration.ofMillis(20)))
                    .isInstanceOf(AssertionError.class)
                    .hasMessageContainingAll("Parrot, alive) did not print 'heard' within PT0.02S");
            child.resume();
            assertThat(child.awaitLine("heard")).isEqualTo("heard one");
        }
        assertThat(child.isAlive()).isFalse();
    }

    @Test
    void shouldRunBehindAnotherCommandToItsEnd() {
        ChildJvm.Result result = ChildJvm.of(Parrot.class, 0)
                .optimised()
                .behind(List.of("/bin/sh", "-c", "echo shell && exec \"$@\" </dev/null", "sh"))
                .run();
        assertThat(result.exitCode()).isZero();
        assertThat(result.output()).startsWith("shell\nruns in ").contains("to standard error");
        assertThat(ChildJvm.of(Parrot.class).optimised().command()).doesNotContain("-XX:TieredStopAtLevel=1");
    }
}
