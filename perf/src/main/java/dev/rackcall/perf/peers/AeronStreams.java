package dev.rackcall.perf.peers;

import dev.rackcall.perf.harness.ClientSide;
import dev.rackcall.perf.harness.NoReplyException;
import dev.rackcall.perf.harness.Payload;
import dev.rackcall.perf.harness.ServerSide;
import dev.rackcall.perf.harness.Sides;
import dev.rackcall.perf.harness.WrongReplyException;
import io.aeron.Aeron;
import io.aeron.ExclusivePublication;
import io.aeron.Subscription;
import io.aeron.driver.MediaDriver;
import io.aeron.logbuffer.BufferClaim;
import io.aeron.logbuffer.FragmentHandler;
import io.aeron.logbuffer.Header;
import java.nio.ByteOrder;
import java.nio.file.Path;
import org.agrona.CloseHelper;
import org.agrona.DirectBuffer;
import org.agrona.collections.Int2ObjectHashMap;
import org.agrona.concurrent.BackoffIdleStrategy;
import org.agrona.concurrent.IdleStrategy;

/**
 * Request and response over Aeron IPC as it comes: the media driver with its default threads, embedded in the server
 * process, and Agrona's default {@link BackoffIdleStrategy} on both sides. All clients send on one stream; each reads a
 * stream of its own, whose number its requests carry.
 *
 * @param bytes there and back
 */
public record AeronStreams(int bytes) implements Sides {
    private static final String NAME = "aeron";
    /** More than is in flight, and small enough for the caches. */
    private static final String CHANNEL = "aeron:ipc?term-length=" + (1 << 20);

    private static final int REQUESTS = 10;
    /** After the sequence. */
    private static final int REPLY_STREAM = Long.BYTES;
    /** This many idle turns, each of at most 1 ms, pass before a wait reads the clock. */
    private static final int TURNS = 1 << 10;

    /** The choices for the report. */
    public static String settings() {
        return "Aeron 1.51, embedded driver with its default threads and idle strategies, BackoffIdleStrategy on both sides,"
                + " ExclusivePublication.tryClaim, a reply stream for each client, 1 MiB terms, bounds checks off";
    }

    private static String driverDirectory(Path directory) {
        return directory.resolve("aeron").toString();
    }

    private static Aeron aeron(Path directory) {
        return Aeron.connect(new Aeron.Context().aeronDirectoryName(driverDirectory(directory)));
    }

    @Override
    public ServerSide serve(Path directory) {
        MediaDriver driver = MediaDriver.launch(new MediaDriver.Context()
                .aeronDirectoryName(driverDirectory(directory))
                .termBufferSparseFile(false)
                .dirDeleteOnStart(true)
                .dirDeleteOnShutdown(true));
        Echo echo = new Echo(driver, aeron(directory));
        Thread.ofPlatform().daemon().name("aeron-echo").start(echo);
        return echo;
    }

    @Override
    public ClientSide connect(Path directory) {
        return new Client(aeron(directory), bytes);
    }

    private static final class Echo implements Runnable, FragmentHandler, ServerSide {
        private final MediaDriver driver;
        private final Aeron aeron;
        private final Subscription requests;
        private final Int2ObjectHashMap<ExclusivePublication> replies = new Int2ObjectHashMap<>();
        private final BufferClaim claim = new BufferClaim();
        private final IdleStrategy idle = new BackoffIdleStrategy();
        private volatile boolean stopped;

        Echo(MediaDriver driver, Aeron aeron) {
            this.driver = driver;
            this.aeron = aeron;
            this.requests = aeron.addSubscription(CHANNEL, REQUESTS);
        }

        @Override
        public void run() {
            while (!stopped) {
                idle.idle(requests.poll(this, 16));
            }
            CloseHelper.quietCloseAll(aeron, driver);
        }

        @Override
        public void onFragment(DirectBuffer buffer, int offset, int length, Header header) {
            ExclusivePublication publication = replies.get(header.sessionId());
            if (publication == null) {
                publication = aeron.addExclusivePublication(
                        CHANNEL, buffer.getInt(offset + REPLY_STREAM, ByteOrder.LITTLE_ENDIAN));
                replies.put(header.sessionId(), publication);
            }
            while (publication.tryClaim(length, claim) < 0) {
                if (stopped) {
                    return;
                }
                Thread.yield();
            }
            claim.buffer().putBytes(claim.offset(), buffer, offset, length);
            claim.commit();
        }

        @Override
        public void close() {
            stopped = true;
        }
    }

    private static final class Client implements ClientSide, FragmentHandler {
        private final Aeron aeron;
        private final ExclusivePublication requests;
        private final Subscription replies;
        private final int stream;
        private final BufferClaim claim = new BufferClaim();
        private final IdleStrategy idle = new BackoffIdleStrategy();
        private final byte[] payload;
        private final byte[] answer;
        private long last;

        Client(Aeron aeron, int bytes) {
            this.aeron = aeron;
            this.payload = Payload.of(bytes);
            this.answer = new byte[bytes];
            this.stream = REQUESTS + 1 + (int) aeron.nextCorrelationId(); // unique among the driver's clients
            this.replies = aeron.addSubscription(CHANNEL, stream);
            this.requests = aeron.addExclusivePublication(CHANNEL, REQUESTS);
        }

        @Override
        public void call(long sequence) {
            Payload.mark(payload, sequence);
            await(sequence, true);
            claim.buffer().putBytes(claim.offset(), payload);
            claim.buffer().putInt(claim.offset() + REPLY_STREAM, stream, ByteOrder.LITTLE_ENDIAN);
            claim.commit();
            await(sequence, false);
            Payload.check(NAME, answer, answer.length, sequence);
            last = sequence;
        }

        /** Waits for room for the request, or for its reply. */
        private void await(long sequence, boolean forRoom) {
            idle.reset();
            long since = 0;
            for (int turns = 1;
                    !(forRoom ? requests.tryClaim(payload.length, claim) > 0 : replies.poll(this, 1) > 0);
                    turns++) {
                idle.idle();
                if (turns % TURNS == 0) {
                    since = since == 0 ? System.nanoTime() : since;
                    if (System.nanoTime() - since > CALL_BOUND_NANOS) {
                        throw new NoReplyException(
                                NAME, CALL_BOUND_NANOS, sequence, last, "the server side hangs, or has ended");
                    }
                }
            }
        }

        @Override
        public void onFragment(DirectBuffer buffer, int offset, int length, Header header) {
            WrongReplyException.check(NAME + " (length)", answer.length, length);
            buffer.getBytes(offset, answer);
        }

        @Override
        public void close() {
            aeron.close();
        }
    }
}
