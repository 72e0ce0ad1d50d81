package dev.rackcall.verbs.soft;

import static org.assertj.core.api.Assertions.assertThat;

import dev.rackcall.testkit.Await;
import dev.rackcall.verbs.Bench;
import dev.rackcall.verbs.CompletionStatus;
import dev.rackcall.verbs.Completions;
import dev.rackcall.verbs.InitAttributes;
import dev.rackcall.verbs.QueuePair;
import dev.rackcall.verbs.QueuePairState;
import dev.rackcall.verbs.QueuePairType;
import dev.rackcall.verbs.ReadyToReceive;
import dev.rackcall.verbs.ReadyToSend;
import dev.rackcall.verbs.WorkRequest;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;

/** While connections are cut and queue pairs enter the error state, each request completes once, in order. */
class FaultStormTest {
    private static final int THREADS = 3;
    private static final int FAULTS = 60;
    private static final int IN_FLIGHT = 40;

    private final long seed = System.nanoTime();
    private final FaultPlan plan = FaultPlan.none();
    private final SoftDevice device = SoftDevice.of("storm", SoftOptions.local().withFaults(plan));
    private final AtomicBoolean over = new AtomicBoolean();

    @Test
    void shouldEndEachRequestOnce() throws Exception {
        List<Future<Integer>> workers = new ArrayList<>();
        try (ExecutorService threads = Executors.newFixedThreadPool(THREADS);
                Bench shared = new Bench(device)) {
            for (int i = 0; i < THREADS; i++) {
                Random random = new Random(seed + i);
                workers.add(threads.submit((Callable<Integer>) () -> work(shared, random)));
            }
            Random random = new Random(seed - 1);
            for (int fault = 0; fault < FAULTS; fault++) {
                TimeUnit.MILLISECONDS.sleep(random.nextInt(20));
                plan.cutConnections();
            }
            over.set(true);
            for (Future<Integer> worker : workers) {
                assertThat(worker.get(Await.BOUND.toSeconds(), TimeUnit.SECONDS))
                        .as("successful requests, seed %d", seed)
                        .isPositive();
            }
        }
    }

    private int work(Bench target, Random random) throws Exception {
        int successes = 0;
        try (Bench own = new Bench(device)) {
            QueuePair here = own.queuePair(QueuePairType.RC);
            QueuePair there;
            synchronized (target) {
                there = target.queuePair(QueuePairType.RC);
            }
            connect(own, here, target, there, random);
            WorkRequest request = WorkRequest.create(1, 64);
            Completions batch = Completions.create(16);
            long posted = 0;
            long ended = 0;
            boolean failed = false;
            // A worker without a success during the storm must have one after it.
            while (!over.get() || ended < posted || successes == 0) {
                while ((!over.get() || successes == 0) && !failed && posted - ended < IN_FLIGHT) {
                    assertThat(here.postSend(
                                    any(request, own, target, random).id(posted).signaled()))
                            .isTrue();
                    posted++;
                }
                int count = own.completions.poll(batch);
                for (int i = 0; i < count; i++) {
                    assertThat(batch.id(i)).as("order, seed %d", seed).isEqualTo(ended++);
                    failed |= !batch.isSuccess(i);
                    successes += batch.isSuccess(i) ? 1 : 0;
                    assertThat(batch.status(i))
                            .isIn(CompletionStatus.SUCCESS, CompletionStatus.RETRY_EXCEEDED, CompletionStatus.FLUSHED);
                }
                if (!failed && random.nextInt(2000) == 0) {
                    here.toError();
                    failed = true;
                }
                if (failed && ended == posted) {
                    assertThat(here.state()).isEqualTo(QueuePairState.ERROR);
                    here.toReset();
                    there.toReset();
                    connect(own, here, target, there, random);
                    failed = false;
                }
            }
        }
        return successes;
    }

    /** Uses new packet numbers each time, so packets of the old connection are not mistaken for new ones. */
    private static void connect(Bench own, QueuePair here, Bench target, QueuePair there, Random random) {
        int ours = random.nextInt(1 << 24);
        int theirs = random.nextInt(1 << 24);
        connect(own, here, target, there, ours, theirs);
        connect(target, there, own, here, theirs, ours);
    }

    private static void connect(Bench from, QueuePair here, Bench to, QueuePair there, int first, int expected) {
        here.toInit(InitAttributes.connected());
        here.toReadyToReceive(
                ReadyToReceive.from(from.pathTo(to), there.number()).withFirstPacket(expected));
        here.toReadyToSend(ReadyToSend.defaults().withFirstPacket(first));
    }

    private static WorkRequest any(WorkRequest request, Bench own, Bench target, Random random) {
        int length = random.nextInt(8) == 0 ? 60_000 : random.nextInt(200);
        long address = target.region.address();
        int key = target.region.remoteKey();
        return switch (random.nextInt(4)) {
            case 0 -> request.write(address, key).inline(1);
            case 1 -> request.write(address, key).from(own.region, 0, length);
            case 2 -> request.read(address, key).from(own.region, 0, length);
            default -> request.fetchAndAdd(address, key, 1).from(own.region, 0, 8);
        };
    }
}
