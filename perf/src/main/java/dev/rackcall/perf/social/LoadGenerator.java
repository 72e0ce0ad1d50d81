package dev.rackcall.perf.social;

import dev.rackcall.perf.harness.LatencyRecorder;
import dev.rackcall.perf.harness.ServerSide;
import dev.rackcall.perf.result.Measurement;
import dev.rackcall.perf.social.SocialApi.Compose;
import dev.rackcall.perf.social.SocialApi.Draft;
import dev.rackcall.perf.social.SocialApi.Post;
import dev.rackcall.perf.social.SocialApi.Range;
import dev.rackcall.perf.social.SocialApi.Timelines;
import java.io.Serializable;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.IntStream;

/**
 * Requests of DeathStarBench's mixed workload: 60 % read a home timeline, 30 % a user's timeline, 10 % compose a post of
 * 256 letters with up to five mentions and up to five addresses. They arrive at random (Poisson), whether or not earlier
 * ones have been answered, and each latency counts from the time at which the request was due.
 */
final class LoadGenerator implements ServerSide {
    /** Each user has so many posts before the measurement. */
    private static final int POSTS_OF_A_USER = 20;

    private static final int READ_POSTS = 10;
    private static final int LETTERS = 256;
    private static final int URL_LETTERS = 64;
    private static final int MOST_NAMED = 5;
    private static final int DRAFTS = 1 << 12;
    private static final int KINDS = 10;
    private static final int COMPOSES = KINDS - 1;
    /** Answers beyond this time after the last request count as lost. */
    static final long BOUND_NANOS = TimeUnit.SECONDS.toNanos(40);
    /** Calls in flight while warming up. */
    private static final int WARM_IN_FLIGHT = 16;

    private static final long WINDOW_NANOS = 1_000_000_000;
    private static final int CALM_WINDOWS = 5;
    private static final double GROWTH = 1.05;

    private final SocialTransport.Connections connections;
    private final Compose compose;
    private final Timelines own;
    private final Timelines home;
    private final Random random = new Random(1);
    private final List<Draft> drafts =
            IntStream.range(0, DRAFTS).mapToObj(this::draft).toList();
    private int composed;

    LoadGenerator(SocialTransport.Connections connections) {
        this.connections = connections;
        this.compose = connections.of(SocialRole.COMPOSE, Compose.class);
        this.own = connections.of(SocialRole.OWN_TIMELINE, Timelines.class);
        this.home = connections.of(SocialRole.HOME_TIMELINE, Timelines.class);
    }

    /**
     * What one load measured.
     *
     * @param latencies of the requests that succeeded, and how many did in a second
     * @param failed how many did not
     * @param failure the first failure; empty if there was none
     * @param processorTime of all processes
     */
    record Load(Measurement latencies, long failed, String failure, Duration processorTime) implements Serializable {
        /** A copy with that processor time. */
        Load with(Duration time) {
            return new Load(latencies, failed, failure, time);
        }

        /** Processor seconds for a million requests. */
        double processorSecondsPerMillion() {
            return processorTime.toNanos() / 1e3 / latencies.count();
        }
    }

    private Draft draft(int number) {
        StringBuilder text = new StringBuilder(letters(LETTERS));
        for (int i = random.nextInt(MOST_NAMED + 1); i > 0; i--) {
            text.append(" @").append(SocialGraph.name(random.nextInt(SocialGraph.USERS)));
        }
        for (int i = random.nextInt(MOST_NAMED + 1); i > 0; i--) {
            text.append(" http://").append(letters(URL_LETTERS));
        }
        return new Draft(SocialGraph.name(number % SocialGraph.USERS), text.toString());
    }

    private String letters(int count) {
        StringBuilder letters = new StringBuilder();
        random.ints(count, 'a', 'z' + 1).forEach(letter -> letters.append((char) letter));
        return letters.toString();
    }

    /**
     * Composes until each user has posts, then makes all kinds of requests, in a closed loop, until five seconds bring
     * no growth, at most for {@code most} nanoseconds. The compilers of ten JVMs compete with the requests for a long
     * time. Returns the requests of the second that the growth ended with.
     */
    long warmUp(long most) throws InterruptedException {
        long best = 0;
        long start = System.nanoTime();
        for (int calm = 0; calm < CALM_WINDOWS && System.nanoTime() - start < most; calm++) {
            long requests = window(Math.min(WINDOW_NANOS, most));
            // Only growth moves the mark: small steps add up.
            if (requests > GROWTH * best || isFilling()) {
                best = requests;
                calm = -1;
            }
        }
        return best;
    }

    private boolean isFilling() {
        return composed < POSTS_OF_A_USER * SocialGraph.USERS;
    }

    private long window(long nanos) throws InterruptedException {
        Semaphore room = new Semaphore(WARM_IN_FLIGHT);
        AtomicLong succeeded = new AtomicLong();
        for (long start = System.nanoTime(); System.nanoTime() - start < nanos; ) {
            room.acquire();
            var _ = begin(isFilling() ? COMPOSES : random.nextInt(KINDS)).whenComplete((_, thrown) -> {
                if (thrown == null) {
                    succeeded.incrementAndGet();
                }
                room.release();
            });
        }
        room.acquire(WARM_IN_FLIGHT);
        return succeeded.get();
    }

    /** Requests that are due within {@code nanos}. */
    Load run(double perSecond, long nanos) throws InterruptedException {
        long[] due = due(perSecond, nanos);
        long[] latencies = new long[due.length];
        AtomicReference<Throwable> failure = new AtomicReference<>();
        CountDownLatch left = new CountDownLatch(due.length);
        long start = System.nanoTime();
        for (int i = 0; i < due.length; i++) {
            int number = i;
            long at = start + due[i];
            for (long now = System.nanoTime(); now < at; now = System.nanoTime()) {
                LockSupport.parkNanos(at - now);
            }
            var _ = begin(random.nextInt(KINDS)).whenComplete((_, thrown) -> {
                if (thrown == null) {
                    latencies[number] = System.nanoTime() - at;
                } else {
                    failure.compareAndSet(null, thrown);
                }
                left.countDown();
            });
        }
        boolean isComplete = left.await(BOUND_NANOS, TimeUnit.NANOSECONDS);
        long elapsed = Math.max(nanos, System.nanoTime() - start);
        LatencyRecorder recorder = new LatencyRecorder();
        long succeeded = 0;
        for (long latency : latencies) {
            if (latency > 0) {
                recorder.record(latency);
                succeeded++;
            }
        }
        recorder.add(succeeded, elapsed);
        String first =
                failure.get() != null ? failure.get().toString() : isComplete ? "" : "requests without an answer";
        return new Load(recorder.measurement(), due.length - succeeded, first, Duration.ZERO);
    }

    private long[] due(double perSecond, long nanos) {
        long[] times = new long[(int) Math.max(1, perSecond * nanos / 1e9)];
        double time = 0;
        for (int i = 0; i < times.length; i++) {
            time -= Math.log(1 - random.nextDouble()) * 1e9 / perSecond;
            times[i] = (long) time;
        }
        return times;
    }

    /** Begins a request: one of the first six kinds reads a home timeline, of the next three a user's; the last composes. */
    private CompletableFuture<?> begin(int kind) {
        try {
            if (kind == COMPOSES) {
                return compose.compose(drafts.get(composed++ % DRAFTS));
            }
            int user = random.nextInt(SocialGraph.USERS);
            int start = random.nextInt(POSTS_OF_A_USER - READ_POSTS);
            Range range = new Range(user, start, start + READ_POSTS);
            return kind < 6 ? home.read(range) : own.read(range).thenApply(posts -> check(posts, user));
        } catch (RuntimeException e) { // the queue may be full
            return CompletableFuture.failedFuture(e);
        }
    }

    private static List<Post> check(List<Post> posts, int author) {
        if (posts.size() > READ_POSTS
                || posts.stream().anyMatch(post -> post.creator().id() != author)) {
            throw new IllegalStateException("the timeline of user " + author + " holds " + posts);
        }
        return posts;
    }

    @Override
    public void close() {
        connections.close();
    }
}
