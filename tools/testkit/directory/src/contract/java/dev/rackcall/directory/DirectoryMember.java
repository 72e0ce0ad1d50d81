package dev.rackcall.directory;

import java.io.BufferedReader;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/** A process of its own that announces an endpoint, claims an arena id, and waits until it is killed. */
public final class DirectoryMember implements AutoCloseable {
    private final Process process;
    private final int arenaId;

    private DirectoryMember(Process process, int arenaId) {
        this.process = process;
        this.arenaId = arenaId;
    }

    static DirectoryMember start(URI address, DirectoryOptions options, ChannelName channel, Endpoint endpoint)
            throws IOException {
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "--enable-native-access=ALL-UNNAMED",
                "-Dorg.slf4j.simpleLogger.defaultLogLevel=error",
                "-cp",
                System.getProperty("java.class.path"),
                DirectoryMember.class.getName(),
                address.toString(),
                Long.toString(options.lease().toMillis()),
                channel.text(),
                endpoint.id(),
                Long.toString(endpoint.fingerprint())));
        Process process = new ProcessBuilder(command)
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        BufferedReader out = process.inputReader();
        String line = out.readLine();
        if (line == null) {
            process.destroyForcibly();
            throw new IOException("the child has said nothing; see its errors above");
        }
        return new DirectoryMember(process, Integer.parseInt(line));
    }

    /**
     * Announces, claims, prints the arena's id.
     *
     * @param args address, lease in ms, channel, endpoint's id, fingerprint
     */
    public static void main(String[] args) throws InterruptedException {
        DirectoryOptions options =
                DirectoryOptions.DEFAULT.withLease(java.time.Duration.ofMillis(Long.parseLong(args[1])));
        Directory directory = Directory.open(URI.create(args[0]), options);
        directory.announce(ChannelName.of(args[2]), Endpoint.of(args[3], "child", Long.parseLong(args[4])));
        directory.claimMemory(1 << 20);
        System.out.println(directory.claimArenas(1, () -> {}).ids().getFirst());
        new CountDownLatch(1).await(5, TimeUnit.MINUTES);
    }

    int arenaId() {
        return arenaId;
    }

    long pid() {
        return process.pid();
    }

    /** As {@code kill -9}. */
    void kill() throws InterruptedException {
        process.destroyForcibly().waitFor();
    }

    @Override
    public void close() throws InterruptedException {
        kill();
    }
}
