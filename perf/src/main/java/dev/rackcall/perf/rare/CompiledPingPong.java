package dev.rackcall.perf.rare;

import dev.rackcall.perf.harness.ClientSide;
import dev.rackcall.perf.harness.HostProgram;
import dev.rackcall.perf.harness.LatencyRecorder;
import dev.rackcall.perf.harness.ServerSide;
import dev.rackcall.perf.harness.Sides;
import java.io.BufferedReader;
import java.io.BufferedWriter;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;

/**
 * 64 bytes there and back over a Unix socket between two C programs: what the kernel alone costs. Each side compiles
 * {@code pingpong.c} and runs it as a child process.
 */
record CompiledPingPong() implements Sides {
    private static final String[] COMPILERS = {"cc", "gcc", "clang"};

    /** What this host lacks for it. */
    static Optional<String> missing() {
        return HostProgram.onPath(COMPILERS).isPresent()
                ? Optional.empty()
                : Optional.of("there is no C compiler (cc, gcc or clang) on the PATH; compare with rare-uds");
    }

    @Override
    public ServerSide serve(Path directory) throws IOException, InterruptedException {
        return start("serve", directory)::destroyForcibly;
    }

    @Override
    public ClientSide connect(Path directory) throws IOException, InterruptedException {
        return new Client(start("call", directory));
    }

    private static Process start(String role, Path directory) throws IOException, InterruptedException {
        // Not in the run's directory: in containers /dev/shm often has no executable files.
        Path folder = Files.createTempDirectory("rackcall-bench-");
        Path source = folder.resolve("pingpong.c");
        Path program = folder.resolve("pingpong");
        try (InputStream text = CompiledPingPong.class.getResourceAsStream("pingpong.c")) {
            Files.copy(text, source);
            String compiler = HostProgram.onPath(COMPILERS).orElseThrow().toString();
            run(new ProcessBuilder(compiler, "-O2", "-o", program.toString(), source.toString()));
            Process process = new ProcessBuilder(
                            program.toString(),
                            role,
                            directory.resolve("pingpong.sock").toString())
                    .redirectError(ProcessBuilder.Redirect.INHERIT)
                    .start();
            requireLine(process.inputReader(StandardCharsets.UTF_8));
            return process;
        } finally {
            // The running program needs its file no longer.
            Files.deleteIfExists(program);
            Files.deleteIfExists(source);
            Files.delete(folder);
        }
    }

    private static void run(ProcessBuilder compiler) throws IOException, InterruptedException {
        int exitCode = compiler.redirectErrorStream(true)
                .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                .start()
                .waitFor();
        if (exitCode != 0) {
            throw new IOException(String.join(" ", compiler.command()) + " ended with exit code " + exitCode);
        }
    }

    private static String requireLine(BufferedReader lines) throws IOException {
        return Optional.ofNullable(lines.readLine())
                .orElseThrow(() -> new IOException("pingpong has ended; its message is above"));
    }

    private record Client(Process process) implements ClientSide {
        @Override
        public void call(long sequence) throws IOException {
            rarely(sequence, 0, 1);
        }

        @Override
        public LatencyRecorder rarely(long firstSequence, long gapNanos, int calls) throws IOException {
            BufferedWriter orders = process.outputWriter(StandardCharsets.UTF_8);
            orders.write(gapNanos + " " + calls + "\n");
            orders.flush();
            BufferedReader latencies = process.inputReader(StandardCharsets.UTF_8);
            LatencyRecorder recorder = new LatencyRecorder();
            for (int i = 0; i < calls; i++) {
                recorder.record(Long.parseLong(requireLine(latencies)));
            }
            recorder.add(calls, Math.max(1, gapNanos * calls));
            return recorder;
        }

        @Override
        public void close() {
            process.destroyForcibly();
        }
    }
}
