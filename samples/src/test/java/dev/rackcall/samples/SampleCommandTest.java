package dev.rackcall.samples;

import static org.assertj.core.api.Assertions.assertThat;

import dev.rackcall.testkit.Await;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import picocli.CommandLine;

class SampleCommandTest {
    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
                    call           | found Item[name=tea, cents=350]; failed with NOT_FOUND: there is no sugar
                    shared_objects | the centre of 1000 points is 499.5, 999.0
                    streams        | primes [2, 3, 5, 7, 11, 13, 17, 19, 23, 29]; the server's stream was closed
                    streams        | the sum is 6; primes? [true, false]
                    async          | the sum is 8555; not answered in time
                    isolation      | snapshot: paid 250 cents; trusted: FAILED_PRECONDITION
                    directory      | hello, host-b; same process: USED, the best route that works; hello, RDMA
                    """)
    void shouldRunEachSample(String name, String lines) {
        PrintStream before = System.out;
        ByteArrayOutputStream printed = new ByteArrayOutputStream();
        System.setOut(new PrintStream(printed, true, StandardCharsets.UTF_8));
        int exitCode;
        try {
            exitCode = new CommandLine(new DemoCommand())
                    .setCaseInsensitiveEnumValuesAllowed(true)
                    .execute("sample", name);
            // A handler's stream is closed on a thread of its own, and then prints its line.
            Await.until(
                    "the lines of " + name,
                    () -> exitCode != 0
                            || printed.toString(StandardCharsets.UTF_8)
                                    .lines()
                                    .toList()
                                    .containsAll(List.of(lines.split("; "))));
        } finally {
            System.setOut(before);
        }
        assertThat(exitCode).isZero();
        assertThat(printed.toString(StandardCharsets.UTF_8).lines()).containsSubsequence(lines.split("; "));
    }
}
