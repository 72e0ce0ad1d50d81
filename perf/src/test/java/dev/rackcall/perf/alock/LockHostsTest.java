package dev.rackcall.perf.alock;

import static org.assertj.core.api.Assertions.assertThat;

import dev.rackcall.perf.harness.MeasuredProcess;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.BindException;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The lock benchmark with its nodes in two processes. */
@Timeout(120)
class LockHostsTest {
    /** Below the ports that the kernel gives to connecting sockets, since the test binds it again and again, seconds later. */
    private static int freePort() throws IOException {
        while (true) {
            try (ServerSocket socket =
                    new ServerSocket(ThreadLocalRandom.current().nextInt(20_000, 32_000))) {
                return socket.getLocalPort();
            } catch (BindException taken) {
                Thread.onSpinWait();
            }
        }
    }

    private static Process host(int node, int port, int peer) throws IOException {
        List<String> command = new ArrayList<>();
        command.add(ProcessHandle.current().info().command().orElseThrow());
        command.addAll(MeasuredProcess.measuringFlags());
        command.addAll(List.of(
                "-cp",
                System.getProperty("java.class.path"),
                LockHosts.class.getName(),
                "soft:locks",
                Integer.toString(node),
                Integer.toString(port),
                "127.0.0.1",
                Integer.toString(peer),
                "200",
                "alock-50-4",
                "spin-50-4",
                "mcs-50-4"));
        return new ProcessBuilder(command).redirectErrorStream(true).start();
    }

    @Test
    void shouldMeasureEachKindOnBothHosts() throws Exception {
        int first = freePort();
        int second = freePort();
        Process a = host(0, first, second);
        Process b = host(1, second, first);
        try {
            for (Process each : List.of(a, b)) {
                BufferedReader output =
                        new BufferedReader(new InputStreamReader(each.getInputStream(), StandardCharsets.UTF_8));
                List<String> said = output.lines().toList();
                assertThat(each.waitFor(20, TimeUnit.SECONDS)).isTrue();
                assertThat(each.exitValue()).as("%s", said).isZero();
                assertThat(said.stream().filter(line -> line.startsWith("LOCKS ")))
                        .hasSize(3)
                        .allMatch(line -> Double.parseDouble(line.split(" ")[2]) > 0);
            }
        } finally {
            a.destroyForcibly();
            b.destroyForcibly();
        }
    }
}
