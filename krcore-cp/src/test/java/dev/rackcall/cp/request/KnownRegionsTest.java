package dev.rackcall.cp.request;

import static org.assertj.core.api.Assertions.assertThat;

import dev.rackcall.cp.Hosts;
import dev.rackcall.cp.table.NamedRegion;
import dev.rackcall.cp.table.RegionRecord;
import dev.rackcall.testkit.Await;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class KnownRegionsTest {
    private static final int KEY = 7;
    private static final long VALID = 1000;
    private static final long BOUND_SECONDS = Await.BOUND.toSeconds();
    private static final Optional<RegionRecord> OLD = Optional.of(new RegionRecord(4096, 64, 1));
    private static final Optional<RegionRecord> NEW = Optional.of(new RegionRecord(8192, 64, 1));

    private final AtomicLong clock = new AtomicLong();
    private final AtomicInteger asked = new AtomicInteger();
    /** The peer's replies, in order; a lookup beyond them fails. */
    private final ConcurrentLinkedQueue<Optional<RegionRecord>> answers = new ConcurrentLinkedQueue<>();

    private final CountDownLatch mayAnswer = new CountDownLatch(1);

    private KnownRegions regions() {
        return new KnownRegions(
                key -> {
                    int turn = asked.incrementAndGet();
                    Optional<RegionRecord> answer = answers.remove();
                    if (turn == 1) {
                        await(mayAnswer);
                    }
                    return answer;
                },
                VALID,
                clock::get);
    }

    private static void await(CountDownLatch latch) {
        try {
            assertThat(latch.await(BOUND_SECONDS, TimeUnit.SECONDS)).isTrue();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Asks on another thread; returns when that waits for the peer or for another lookup. */
    private static FutureTask<Optional<RegionRecord>> waiting(KnownRegions regions) {
        FutureTask<Optional<RegionRecord>> task = new FutureTask<>(() -> regions.find(KEY));
        Thread thread = Thread.ofPlatform().daemon().start(task);
        Hosts.waitUntil("the thread to wait", () -> switch (thread.getState()) {
            case WAITING, TIMED_WAITING, TERMINATED -> true;
            default -> false;
        });
        return task;
    }

    @Test
    void shouldAskOnceForAllThreadsThatNeedTheAnswer() throws Exception {
        answers.add(OLD);
        KnownRegions regions = regions();
        List<Future<Optional<RegionRecord>>> all = new ArrayList<>();
        for (int i = 0; i < 8; i++) {
            all.add(waiting(regions));
        }
        mayAnswer.countDown();
        for (Future<Optional<RegionRecord>> each : all) {
            assertThat(each.get(BOUND_SECONDS, TimeUnit.SECONDS)).isEqualTo(OLD);
        }
        assertThat(asked).hasValue(1);
    }

    @Test
    void shouldAskAgainForARegionThatOthersHaveAskedForInVain() throws Exception {
        answers.add(Optional.empty());
        answers.add(NEW);
        KnownRegions regions = regions();
        Future<Optional<RegionRecord>> early = waiting(regions);
        Future<Optional<RegionRecord>> late = waiting(regions);
        mayAnswer.countDown();
        assertThat(early.get(BOUND_SECONDS, TimeUnit.SECONDS)).isEmpty();
        assertThat(late.get(BOUND_SECONDS, TimeUnit.SECONDS))
                .as("made since the other asked")
                .isEqualTo(NEW);
    }

    @Test
    void shouldRefreshUsedRecordsBeforeTheyExpireWithoutAWait() throws Exception {
        answers.add(OLD);
        answers.add(NEW);
        mayAnswer.countDown();
        KnownRegions regions = regions();
        assertThat(regions.known(KEY)).isEmpty();
        assertThat(regions.find(KEY)).isEqualTo(OLD);
        clock.set(VALID / 2);
        assertThat(regions.known(KEY)).isEqualTo(OLD);
        assertThat(asked).as("young enough").hasValue(1);
        clock.set(VALID - 1);
        assertThat(regions.known(KEY)).isEqualTo(OLD);
        Hosts.waitUntil("the answer", () -> regions.known(KEY).equals(NEW));
        clock.set(VALID + VALID / 2 - 1);
        assertThat(regions.known(KEY)).isEqualTo(NEW);
        assertThat(asked).hasValue(2);
    }

    @Test
    void shouldNotBelieveWhatIsTooOld() throws Exception {
        answers.add(OLD);
        answers.add(NEW);
        mayAnswer.countDown();
        KnownRegions regions = regions();
        assertThat(regions.find(KEY)).isEqualTo(OLD);
        clock.set(VALID);
        assertThat(regions.known(KEY)).isEmpty();
        assertThat(asked).as("no lookup in passing").hasValue(1);
        assertThat(regions.find(KEY)).isEqualTo(NEW);
    }

    @Test
    void shouldNotKeepWhatWasAskedBeforeThePeerWasDoubted() throws Exception {
        answers.add(OLD);
        KnownRegions regions = regions();
        Future<Optional<RegionRecord>> early = waiting(regions);
        regions.clear();
        mayAnswer.countDown();
        assertThat(early.get(BOUND_SECONDS, TimeUnit.SECONDS)).isEqualTo(OLD);
        assertThat(regions.known(KEY)).isEmpty();
    }

    /** At the maximum a new record replaces the oldest. */
    @Test
    void shouldKnowManyRegionsAtATime() throws Exception {
        KnownRegions regions = new KnownRegions(
                key -> {
                    asked.incrementAndGet();
                    return Optional.of(new RegionRecord(key, 64, 1));
                },
                VALID,
                clock::get);
        for (int key = 0; key <= KnownRegions.KEPT; key++) {
            clock.set(key == 0 ? 0 : 1);
            // Keys as a device draws them.
            regions.find(key << 16 | key);
        }
        assertThat(regions.known(0)).as("the oldest").isEmpty();
        for (int key = 1; key <= KnownRegions.KEPT; key++) {
            assertThat(regions.known(key << 16 | key)).hasValue(new RegionRecord(key << 16 | key, 64, 1));
        }
        assertThat(asked).hasValue(KnownRegions.KEPT + 1);
    }

    @Test
    void shouldAskForNoRegionThatThePeerHasIntroduced() throws Exception {
        KnownRegions regions = regions();
        regions.introduced(new NamedRegion(KEY, NEW.orElseThrow()));
        assertThat(regions.find(KEY)).isEqualTo(NEW);
        assertThat(asked.get()).isZero();

        clock.addAndGet(VALID);
        mayAnswer.countDown();
        answers.add(OLD);
        assertThat(regions.find(KEY)).as("no longer valid").isEqualTo(OLD);
    }

    @Test
    void shouldForgetNoRegionForIntroducedOnes() throws Exception {
        answers.add(OLD);
        mayAnswer.countDown();
        KnownRegions regions = regions();
        assertThat(regions.find(KEY)).isEqualTo(OLD);
        clock.addAndGet(1);
        int most = KnownRegions.KEPT / 2;
        for (int i = 1; i <= most; i++) {
            regions.introduced(new NamedRegion(KEY + i, NEW.orElseThrow()));
        }
        assertThat(regions.known(KEY)).isEqualTo(OLD);
        assertThat(regions.known(KEY + most - 1)).isEqualTo(NEW);
        assertThat(regions.known(KEY + most)).isEmpty();
    }
}
