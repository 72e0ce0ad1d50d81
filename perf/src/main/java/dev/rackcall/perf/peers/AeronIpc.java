package dev.rackcall.perf.peers;

import dev.rackcall.perf.harness.ClientSide;
import dev.rackcall.perf.harness.Payload;
import dev.rackcall.perf.harness.Pipeline;
import dev.rackcall.perf.harness.ServerSide;
import dev.rackcall.perf.harness.Sides;
import dev.rackcall.perf.harness.Subject;
import dev.rackcall.perf.harness.WrongReplyException;
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
 * Request and response over two Aeron IPC streams; the media driver is embedded in the server process. With two cores,
 * a driver thread that spins takes a core from one of the sides, in any threading mode; a driver that sleeps does not,
 * and IPC messages do not pass through it.
 */
public record AeronIpc() implements Sides {
    private static final String NAME = "aeron-ipc";
    /**
     * Once per turn, the driver moves a publisher's limit by at most half a term. A term must therefore hold twice what
     * is sent while the driver sleeps, and is better small enough for the last-level cache: of the lengths from 256 KiB
     * to 64 MiB, 16 MiB gave the best throughput, and round trips within 10 % of the best.
     */
    private static final String CHANNEL = "aeron:ipc?term-length=" + (16 << 20);

    /** What each JVM with Aeron gets. */
    public static final List<String> FLAGS = List.of(
            "--sun-misc-unsafe-memory-access=allow",
            "--add-exports=java.base/jdk.internal.misc=ALL-UNNAMED",
            "-Dagrona.disable.bounds.checks=true");

    private static final int REQUESTS = 10;
    private static final int REPLIES = 11;
    private static final int BYTES = 64;
    private static final long DRIVER_SLEEP_MILLIS = 1;

    public static Subject subject() {
        return Subject.of(
                        NAME,
                        BYTES,
                        "Aeron 1.51, embedded driver (SHARED, sleeping 1 ms between turns, so that both cores are left to the two sides),"
                                + " ExclusivePublication.tryClaim, both sides spin, 16 MiB terms, bounds checks off",
                        new AeronIpc(),
                        Subject.Trait.SPINS,
                        Subject.Trait.PIPELINES)
                .withFlags(FLAGS);
    }

    private static String driverDirectory(Path directory) {
        return directory.resolve("aeron").toString();
    }

    @Override
    public ServerSide serve(Path directory) {
        MediaDriver driver = MediaDriver.launch(new MediaDriver.Context()
                .aeronDirectoryName(driverDirectory(directory))
                .threadingMode(ThreadingMode.SHARED)
                .sharedIdleStrategy(new SleepingMillisIdleStrategy(DRIVER_SLEEP_MILLIS))
                .termBufferSparseFile(false)
                .dirDeleteOnStart(true)
                .dirDeleteOnShutdown(true));
        Aeron aeron = Aeron.connect(new Aeron.Context().aeronDirectoryName(driverDirectory(directory)));
        Echo echo = new Echo(driver, aeron);
        Thread.ofPlatform().daemon().name("aeron-echo").start(echo);
        return echo;
    }

    @Override
    public ClientSide connect(Path directory) {
        Client client = new Client(Aeron.connect(new Aeron.Context().aeronDirectoryName(driverDirectory(directory))));
        client.awaitConnected();
        return client;
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

        Echo(MediaDriver driver, Aeron aeron) {
            this.driver = driver;
            this.aeron = aeron;
            this.requests = aeron.addSubscription(CHANNEL, REQUESTS);
            this.replies = aeron.addExclusivePublication(CHANNEL, REPLIES);
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

    private static final class Client implements ClientSide, Pipeline, FragmentHandler {
        private final Aeron aeron;
        private final ExclusivePublication requests;
        private final Subscription replies;
        private final BufferClaim claim = new BufferClaim();
        private final byte[] payload = Payload.of(BYTES);
        private LongConsumer done = sequence -> {};
        private long reply;

        Client(Aeron aeron) {
            this.aeron = aeron;
            this.requests = aeron.addExclusivePublication(CHANNEL, REQUESTS);
            this.replies = aeron.addSubscription(CHANNEL, REPLIES);
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
            WrongReplyException.check(NAME, sequence, reply);
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
            WrongReplyException.check(NAME + " (length)", BYTES, length);
            WrongReplyException.check(
                    NAME + " (tail)", ~reply, buffer.getLong(offset + length - Long.BYTES, ByteOrder.LITTLE_ENDIAN));
            done.accept(reply);
        }

        @Override
        public void close() {
            aeron.close();
        }
    }
}
