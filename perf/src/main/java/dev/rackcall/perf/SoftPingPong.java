package dev.rackcall.perf;

import dev.rackcall.verbs.Devices;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.Locale;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/** The floor under calls over RDMA without a device: 64 bytes there and back over the software device, no more. */
final class SoftPingPong extends Subject {
    private static final String SERVER = "verbs-server";
    private static final String CLIENT = "verbs-client";
    private static final String READY = "verbs-ready";
    /** Appears if the server side ends before its time, and says why. */
    private static final String FAILURE = "verbs-failure";

    private static final long STOP_SECONDS = 10;
    private static final long PAUSE_NANOS = 1_000_000;

    private final boolean writes;

    SoftPingPong(String name, boolean writes) {
        super(name, VerbsEnd.MESSAGE_BYTES);
        this.writes = writes;
    }

    @Override
    Target target() {
        return Target.VERBS;
    }

    @Override
    boolean isOf(Target asked) {
        return super.isOf(asked) || (writes && asked == Target.RDMA);
    }

    @Override
    String group() {
        return Road.RDMA.group();
    }

    @Override
    String floor() {
        return "soft-pingpong";
    }

    @Override
    String settings() {
        return VerbsEnd.settings(writes);
    }

    @Override
    boolean spins() {
        return true;
    }

    @Override
    ServerSide serve(Path directory) throws IOException {
        VerbsEnd end = new VerbsEnd(Devices.find(BenchDevice.SOFTWARE), writes);
        end.announce(directory.resolve(SERVER));
        return new Echo(end, directory);
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
                while (running && !end.connect(directory.resolve(CLIENT))) {
                    LockSupport.parkNanos(PAUSE_NANOS);
                }
                Files.createFile(directory.resolve(READY));
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
            } catch (IOException | RuntimeException e) {
                tell(e);
            } finally {
                stopped.countDown();
            }
        }

        /** The client waits for a reply by then, and would never know why there is none. */
        private void tell(Exception failure) {
            failure.printStackTrace();
            try {
                Path draft = directory.resolve(FAILURE + ".draft");
                Files.writeString(draft, failure.toString());
                Files.move(draft, directory.resolve(FAILURE), StandardCopyOption.ATOMIC_MOVE);
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

    @Override
    ClientSide connect(Path directory) throws IOException, InterruptedException {
        VerbsEnd end = new VerbsEnd(Devices.find(BenchDevice.SOFTWARE), writes);
        end.announce(directory.resolve(CLIENT));
        end.connectSoon(directory.resolve(SERVER));
        // A queue pair that does not receive yet answers no request: after some tries, half a second, that is an error.
        VerbsEnd.await(directory.resolve(READY));
        return new Client(name(), end, directory.resolve(FAILURE), ClientSide.CALL_BOUND_NANOS);
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
            // 0 is what fresh memory holds and negative numbers may be a warm-up's, so each call has a number of its
            // own.
            long number = sequence + 1;
            end.send(number);
            long since = System.nanoTime();
            long now = since;
            long answer = end.poll();
            while (answer != number) {
                // The clock is read before each look: what came while this process stood still is here in time.
                if (now - since > boundNanos) {
                    throw new NoReplyException(name, boundNanos, number, answer, why(number, since));
                }
                now = System.nanoTime();
                answer = end.poll();
            }
        }

        /** Waits as long again, so that a machine that stood still can be told from a message that was lost. */
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
