package dev.rackcall.rpc.contract;

import dev.rackcall.rpc.RpcException;
import dev.rackcall.rpc.Status;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;

/** Remembers how its handlers ended. */
public class MeterService implements Meter {
    /** How a handler's reading ended, for the test. */
    final BlockingQueue<Status> ends = new LinkedBlockingQueue<>();

    final Semaphore permits = new Semaphore(0);
    final AtomicInteger running = new AtomicInteger();
    /** How many handlers that are {@link #running} there have been. */
    final AtomicInteger begun = new AtomicInteger();

    @Override
    public Summary record(String who, Stream<Reading> readings) {
        int count = 0;
        long sum = 0;
        String last = who;
        for (Iterator<Reading> each = readings.iterator(); each.hasNext(); count++) {
            Reading next = each.next();
            sum += next.value();
            last = next.place();
        }
        return new Summary(count, sum, last);
    }

    @Override
    public void drain(Stream<byte[]> blocks) {
        watched(() -> blocks.forEach(_ -> {}));
    }

    private void watched(Runnable reading) {
        begun.incrementAndGet();
        running.incrementAndGet();
        try {
            reading.run();
            ends.add(Status.OK);
        } catch (RpcException e) {
            ends.add(e.status());
            throw e;
        } finally {
            running.decrementAndGet();
        }
    }

    @Override
    public List<Integer> first(int count, boolean close, Stream<Integer> numbers) {
        if (!close) {
            return taken(count, numbers);
        }
        try (numbers) {
            return taken(count, numbers);
        }
    }

    private static List<Integer> taken(int count, Stream<Integer> numbers) {
        List<Integer> taken = new ArrayList<>();
        Iterator<Integer> each = numbers.iterator();
        while (taken.size() < count && each.hasNext()) {
            taken.add(each.next());
        }
        return taken;
    }

    @Override
    public int taken(Stream<Integer> numbers) {
        int[] count = {0};
        watched(() -> numbers.forEach(_ -> {
            permits.acquireUninterruptibly();
            count[0]++;
        }));
        return count[0];
    }

    @Override
    public Stream<Integer> doubled(Stream<Integer> numbers) {
        return numbers.map(each -> {
            if (each < 0) {
                throw Status.Code.OUT_OF_RANGE.with("%d is negative", each).asException();
            }
            return 2 * each;
        });
    }

    @Override
    public Stream<String> greet(String greeting, Stream<String> names) {
        Iterator<String> each = names.iterator();
        String first = each.next();
        return Stream.of(greeting + " " + first, "and " + each.next());
    }

    @Override
    public int add(int a, int b) {
        return a + b;
    }
}
