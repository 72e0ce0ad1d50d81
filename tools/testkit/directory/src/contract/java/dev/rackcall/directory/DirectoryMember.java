package dev.rackcall.directory;

import dev.rackcall.testkit.ChildJvm;
import java.net.URI;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/** A process of its own that announces an endpoint, claims an arena id, and waits until it is killed. */
public final class DirectoryMember implements AutoCloseable {
    private final ChildJvm process;
    private final int arenaId;

    private DirectoryMember(ChildJvm process) throws InterruptedException {
        this.process = process;
        this.arenaId = Integer.parseInt(process.awaitLine());
    }

    static DirectoryMember start(URI address, DirectoryOptions options, ChannelName channel, Endpoint endpoint)
            throws InterruptedException {
        long lease = options.lease().toMillis();
        return new DirectoryMember(ChildJvm.of(
                        DirectoryMember.class, address, lease, channel.text(), endpoint.id(), endpoint.fingerprint())
                .flags("-Dorg.slf4j.simpleLogger.defaultLogLevel=error")
                .start());
    }

    /**
     * Announces, claims, prints the arena's id.
     *
     * @param args address, lease in ms, channel, endpoint's id, fingerprint
     */
    public static void main(String[] args) throws InterruptedException {
        // A process that has just begun may take long for its first operation.
        DirectoryOptions options =
                new DirectoryOptions(Duration.ofMillis(Long.parseLong(args[1])), Duration.ofMinutes(1));
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
        process.kill();
    }

    @Override
    public void close() throws InterruptedException {
        kill();
    }
}
