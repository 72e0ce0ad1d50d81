package dev.rackcall.perf;

import io.aeron.Aeron;
import io.aeron.ExclusivePublication;
import io.aeron.Subscription;
import io.aeron.driver.MediaDriver;
import io.aeron.driver.ThreadingMode;
import io.aeron.logbuffer.BufferClaim;
import io.aeron.logbuffer.FragmentHandler;
import io.aeron.logbuffer.Header;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.Semaphore;
import java.util.function.LongConsumer;
import org.agrona.CloseHelper;
import org.agrona.DirectBuffer;
import org.agrona.concurrent.SleepingMillisIdleStrategy;

/**
 * Request and response over two Aeron IPC streams; the media driver is embedded in the server process. With two cores, a driver thread that
 * spins takes a core from one of the sides, in any threading mode; a driver that sleeps does not, and IPC messages do not pass through it.
 */
final class AeronIpc extends Subject {
    /**
     * The driver moves a publisher's limit on once per turn by half a term at most. So a term has to hold twice what is sent while the driver
     * sleeps, and better fits the last-level cache: of the lengths from 256 KiB to 64 MiB, 16 MiB gave the best throughput, and round trips
     * within 10 % of the best.
     */
    private static final String CHANNEL = "aeron:ipc?term-length=" + (16 << 20);

    private static final int REQUESTS = 10;
    private static final int REPLIES = 11;
    private static final int BYTES = 64;
    private static final long DRIVER_SLEEP_MILLIS = 1;

    AeronIpc() {
        super("aeron-ipc", BYTES);
    }

    @Override
    String settings() {
        return "Aeron 1.51, embedded driver (SHARED, sleeping 1 ms between turns, so that both cores are left to the two sides),"
                + " ExclusivePublication.tryClaim, both sides spin, 16 MiB terms, bounds checks off";
    }

    @Override
    List<String> jvmFlags() {
        return List.of("--add-exports=java.base/jdk.internal.misc=ALL-UNNAMED", "-Dagrona.disable.bounds.checks=true");
    }

    @Override
    boolean spins() {
        return true;
    }

    @Override
    boolean pipelines() {
        return true;
    }

    private static String driverDirectory(Path directory) {
        return directory.resolve("aeron").toString();
    }

    @Override
    ServerSide serve(Path directory) {
        MediaDriver driver = MediaDriver.launch(new MediaDriver.Context()
                .aeronDirectoryName(driverDirectory(directory))
                .threadingMode(ThreadingMode.SHARED)
                .sharedIdleStrategy(new SleepingMillisIdleStrategy(DRIVER_SLEEP_MILLIS))
                .termBufferSparseFile(false)
                .dirDeleteOnStart(true)
                .dirDeleteOnShutdown(true));
        Aeron aeron = Aeron.connect(new Aeron.Context().aeronDirectoryName(driverDirectory(directory)));
        Subscription requests = aeron.addSubscription(CHANNEL, REQUESTS);
        ExclusivePublication replies = aeron.addExclusivePublication(CHANNEL, REPLIES);
        Echo echo = new Echo(driver, aeron, requests, replies);
        Thread.ofPlatform().daemon().name("aeron-echo").start(echo);
        return echo;
    }

    private static final class Echo implements Runnable, FragmentHandler, ServerSide {
        private final MediaDriver driver;
        private final Aeron aeron;
        private final Subscription requests;
        private final ExclusivePublication replies;
        private final BufferClaim claim = new BufferClaim();
        private final Semaphore resumed = new Semaphore(0);
        private volatile boolean paused;
        private volatile boolean stopped;

        Echo(MediaDriver driver, Aeron aeron, Subscription requests, ExclusivePublication replies) {
            this.driver = driver;
            this.aeron = aeron;
            this.requests = requests;
            this.replies = replies;
        }

        @Override
        public void run() {
            while (!stopped) {
                if (requests.poll(this, 16) == 0 && paused) {
                    resumed.acquireUninterruptibly();
                }
            }
        }

        @Override
        public void pause() {
            paused = true;
        }

        @Override
        public void resume() {
            paused = false;
            resumed.drainPermits();
            resumed.release();
        }

        @Override
        public void close() {
            stopped = true;
            resumed.release();
            CloseHelper.quietCloseAll(aeron, driver);
        }

        @Override
        public void onFragment(DirectBuffer buffer, int offset, int length, Header header) {
            while (replies.tryClaim(length, claim) < 0) {
                if (stopped) {
                    return;
                }
            }
            claim.buffer().putBytes(claim.offset(), buffer, offset, length);
            claim.commit();
        }
    }

    @Override
    ClientSide connect(Path directory) {
        Aeron aeron = Aeron.connect(new Aeron.Context().aeronDirectoryName(driverDirectory(directory)));
        Client client = new Client(
                aeron, aeron.addExclusivePublication(CHANNEL, REQUESTS), aeron.addSubscription(CHANNEL, REPLIES));
        client.awaitConnected();
        return client;
    }

    private static final class Client implements ClientSide, Pipeline, FragmentHandler {
        private final Aeron aeron;
        private final ExclusivePublication requests;
        private final Subscription replies;
        private final BufferClaim claim = new BufferClaim();
        private final byte[] payload = Payload.of(BYTES);
        private LongConsumer done = sequence -> {};
        private long reply;

        Client(Aeron aeron, ExclusivePublication requests, Subscription replies) {
            this.aeron = aeron;
            this.requests = requests;
            this.replies = replies;
        }

        void awaitConnected() {
            long since = System.nanoTime();
            while (!requests.isConnected() || !replies.isConnected()) {
                requireWithinBound(since);
                Thread.onSpinWait();
            }
        }

        @Override
        public void call(long sequence) {
            long since = 0;
            while (!offer(sequence)) {
                since = requireWithinBound(since == 0 ? System.nanoTime() : since);
            }
            int spins = 0;
            while (replies.poll(this, 1) == 0) {
                if (++spins == 1 << 20) {
                    spins = 0;
                    since = requireWithinBound(since == 0 ? System.nanoTime() : since);
                }
            }
            if (reply != sequence) {
                throw new WrongReplyException("aeron-ipc", sequence, reply);
            }
        }

        private static long requireWithinBound(long since) {
            if (System.nanoTime() - since > CALL_BOUND_NANOS) {
                throw new IllegalStateException(
                        "aeron-ipc: no progress for 10 s: the server side hangs or lost a call");
            }
            return since;
        }

        @Override
        public Pipeline pipeline(int depth) {
            return this;
        }

        @Override
        public boolean offer(long sequence) {
            Payload.mark(payload, sequence);
            if (requests.tryClaim(BYTES, claim) < 0) {
                return false;
            }
            claim.buffer().putBytes(claim.offset(), payload);
            claim.commit();
            return true;
        }

        @Override
        public int poll(LongConsumer done) {
            this.done = done;
            return replies.poll(this, 64);
        }

        @Override
        public void onFragment(DirectBuffer buffer, int offset, int length, Header header) {
            reply = buffer.getLong(offset, ByteOrder.LITTLE_ENDIAN);
            long tail = buffer.getLong(offset + length - Long.BYTES, ByteOrder.LITTLE_ENDIAN);
            if (length != BYTES || tail != ~reply) {
                throw new WrongReplyException("aeron-ipc", ~reply, tail);
            }
            done.accept(reply);
        }

        @Override
        public void close() {
            aeron.close();
        }
    }
}
