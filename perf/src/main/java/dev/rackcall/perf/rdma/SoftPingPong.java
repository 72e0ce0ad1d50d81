package dev.rackcall.perf.rdma;

import dev.rackcall.perf.harness.ClientSide;
import dev.rackcall.perf.harness.NoReplyException;
import dev.rackcall.perf.harness.PublishedFile;
import dev.rackcall.perf.harness.ServerSide;
import dev.rackcall.perf.harness.Sides;
import dev.rackcall.perf.harness.Subject;
import dev.rackcall.perf.result.BenchTarget;
import dev.rackcall.verbs.Devices;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * The floor under calls over RDMA without a device: 64 bytes there and back over the software device, no more.
 *
 * @param name the subject
 * @param writes by WRITE into memory that the other side polls instead of SEND
 */
public record SoftPingPong(String name, boolean writes) implements Sides {
    private static final String SERVER = "verbs-server";
    private static final String CLIENT = "verbs-client";
    private static final String READY = "verbs-ready";
    /** Appears if the server side fails, and says why. */
    private static final String FAILURE = "verbs-failure";

    private static final long STOP_SECONDS = 10;
    private static final long PAUSE_NANOS = 1_000_000;

    /** The subject; by WRITE it is also the floor of the target {@code rdma}. */
    public static Subject subject(String name, boolean writes) {
        Set<Subject.Trait> traits =
                writes ? Set.of(Subject.Trait.SPINS, Subject.Trait.FLOOR_OF_RDMA) : Set.of(Subject.Trait.SPINS);
        String settings = "RC queue pairs of the software RDMA device over loopback TCP, 64 bytes each way by "
                + (writes ? "WRITE into memory that the other side polls" : "SEND") + ", both sides poll busily";
        return Subject.of(
                        name,
                        VerbsEnd.MESSAGE_BYTES,
                        settings,
                        new SoftPingPong(name, writes),
                        traits.toArray(Subject.Trait[]::new))
                .in(BenchTarget.VERBS, "verbs", "soft-pingpong");
    }

    @Override
    public ServerSide serve(Path directory) throws IOException {
        VerbsEnd end = new VerbsEnd(Devices.find(BenchDevice.SOFTWARE), writes);
        end.announce(directory.resolve(SERVER));
        return new Echo(end, directory);
    }

    @Override
    public ClientSide connect(Path directory) throws IOException, InterruptedException {
        VerbsEnd end = new VerbsEnd(Devices.find(BenchDevice.SOFTWARE), writes);
        end.announce(directory.resolve(CLIENT));
        end.connect(directory.resolve(SERVER));
        // A queue pair that does not receive yet answers no request: after some tries, half a second, that is an error.
        PublishedFile.await(directory.resolve(READY));
        return new Client(name, end, directory.resolve(FAILURE), ClientSide.CALL_BOUND_NANOS);
    }

    private static final class Echo implements ServerSide {
        private final VerbsEnd end;
        private final Path directory;
        private final CountDownLatch stopped = new CountDownLatch(1);
        private volatile boolean running = true;
        private volatile boolean paused;

        Echo(VerbsEnd end, Path directory) {
            this.end = end;
            this.directory = directory;
            Thread.ofPlatform().daemon().name("soft-pingpong").start(this::run);
        }

        private void run() {
            try (end) {
                while (running && !Files.exists(directory.resolve(CLIENT))) {
                    LockSupport.parkNanos(PAUSE_NANOS);
                }
                if (running) {
                    end.connect(directory.resolve(CLIENT));
                }
                PublishedFile.publish(directory.resolve(READY), "");
                long last = 0;
                while (running) {
                    long number = end.poll();
                    if (number != last) {
                        last = number;
                        end.send(number);
                    } else if (paused) {
                        LockSupport.parkNanos(PAUSE_NANOS);
                    }
                }
            } catch (IOException | InterruptedException | RuntimeException e) {
                report(e);
            } finally {
                stopped.countDown();
            }
        }

        /** The client already waits for a reply, and would not learn why there is none. */
        private void report(Exception failure) {
            failure.printStackTrace();
            try {
                PublishedFile.publish(directory.resolve(FAILURE), failure.toString());
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }

        @Override
        public void pause() {
            paused = true;
        }

        @Override
        public void resume() {
            paused = false;
        }

        @Override
        public void close() {
            running = false;
            try {
                if (!stopped.await(STOP_SECONDS, TimeUnit.SECONDS)) {
                    throw new IllegalStateException("the ping-pong's server side did not end within 10 s");
                }
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }
    }

    /**
     * Owns its end.
     *
     * @param failure see {@link #FAILURE}
     * @param boundNanos the longest that a call may take
     */
    record Client(String name, VerbsEnd end, Path failure, long boundNanos) implements ClientSide {
        @Override
        public void call(long sequence) {
            // 0 is what fresh memory holds, so the sequence is moved past it.
            long number = sequence + 1;
            end.send(number);
            long since = System.nanoTime();
            long now = since;
            long answer = end.poll();
            while (answer != number) {
                // The clock is read before each poll: a reply that came while this process had no processor is in time.
                if (now - since > boundNanos) {
                    throw new NoReplyException(name, boundNanos, number, answer, why(number, since));
                }
                now = System.nanoTime();
                answer = end.poll();
            }
        }

        /** Waits as long again, to tell a slow machine from a lost message. */
        private String why(long number, long since) {
            while (!Files.exists(failure)) {
                if (end.poll() == number) {
                    return String.format(
                            Locale.ROOT,
                            "it came after %.1f s: too slow, but not lost; is the machine that busy?",
                            (System.nanoTime() - since) / 1e9);
                }
                if (System.nanoTime() - since > 2 * boundNanos) {
                    return "nor in as long again, and the server side has not ended: one of both messages is lost";
                }
            }
            try {
                return "the server side has ended: " + Files.readString(failure);
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }

        @Override
        public void close() {
            end.close();
        }
    }
}
