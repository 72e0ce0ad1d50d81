package dev.rackcall.perf.ycsb;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.rackcall.perf.harness.BenchFailure;
import dev.rackcall.perf.harness.HostProgram;
import dev.rackcall.testkit.Await;
import dev.rackcall.testkit.ChildJvm;
import java.io.IOException;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class StoreProgramTest {
    @TempDir
    private Path directory;

    @Test
    void shouldEndWhenItsJvmIsKilled() throws Exception {
        assumeTrue(HostProgram.onPath("setpriv").isPresent(), "NOT TESTED: there is no setpriv on the PATH");
        try (ChildJvm starter = ChildJvm.of(Starter.class, directory).start()) {
            ProcessHandle program =
                    ProcessHandle.of(Long.parseLong(starter.awaitLine())).orElseThrow();
            assertThat(program.isAlive()).isTrue();

            starter.kill();
            Await.until("the program's end", () -> !program.isAlive());
        }
    }

    @Test
    void shouldEndWhenClosed() throws Exception {
        StoreProgram program = Starter.sleeping(directory);
        assertThat(program.process().isAlive()).isTrue();
        program.close();
        assertThat(program.process().waitFor(Await.BOUND)).isTrue();
    }

    @Test
    void shouldReportWhyAProgramDidNotStart() {
        assertThatThrownBy(() -> StoreProgram.start(
                        new ProcessBuilder("sh", "-c", "echo no such luck; exit 3"), directory.resolve("ready")))
                .isInstanceOf(BenchFailure.class)
                .hasMessage("sh ended with exit code 3; the end of its output: no such luck");
    }

    /** Starts a program, prints its process id and waits to be killed. */
    static final class Starter {
        private Starter() {}

        public static void main(String[] args) throws IOException, InterruptedException {
            StoreProgram program = sleeping(Path.of(args[0]));
            System.out.println(program.process().pid());
            TimeUnit.SECONDS.sleep(600);
        }

        /** Makes the file and then becomes {@code sleep}, after {@code setpriv} has made its arrangement. */
        private static StoreProgram sleeping(Path directory) throws IOException {
            Path ready = directory.resolve("ready");
            return StoreProgram.start(
                    new ProcessBuilder("sh", "-c", "> \"$0\"; exec sleep 600", ready.toString()), ready);
        }
    }
}
