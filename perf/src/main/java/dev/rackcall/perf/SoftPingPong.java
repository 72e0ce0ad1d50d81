package dev.rackcall.perf;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/** The floor under calls over RDMA without a device: 64 bytes there and back over the software device, no more. */
final class SoftPingPong extends Subject {
    private static final String SERVER = "verbs-server";
    private static final String CLIENT = "verbs-client";
    private static final String READY = "verbs-ready";
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
        VerbsEnd end = new VerbsEnd(writes);
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
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            } finally {
                stopped.countDown();
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
        VerbsEnd end = new VerbsEnd(writes);
        end.announce(directory.resolve(CLIENT));
        end.connectSoon(directory.resolve(SERVER));
        // A queue pair that does not receive yet answers no request: after some tries, half a second, that is an error.
        VerbsEnd.await(directory.resolve(READY));
        return new Client(name(), end);
    }

    private record Client(String name, VerbsEnd end) implements ClientSide {
        @Override
        public void call(long sequence) {
            // 0 is what fresh memory holds and negative numbers may be a warm-up's, so each call has a number of its
            // own.
            long number = sequence + 1;
            end.send(number);
            long since = System.nanoTime();
            long answer = end.poll();
            while (answer != number) {
                if (System.nanoTime() - since > CALL_BOUND_NANOS) {
                    throw new WrongReplyException(name, number, answer);
                }
                answer = end.poll();
            }
        }

        @Override
        public void close() {
            end.close();
        }
    }
}
