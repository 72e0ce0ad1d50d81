package dev.rackcall.perf.harness;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/** Orders to several measured JVMs at the same time. */
public final class InParallel {
    private InParallel() {}

    /**
     * The results of all tasks in their order.
     *
     * @throws BenchFailure if one of them failed
     */
    public static <T> List<T> run(int threads, List<Callable<T>> tasks) {
        try (ExecutorService executor = Executors.newFixedThreadPool(threads)) {
            List<T> results = new ArrayList<>();
            for (Future<T> each : executor.invokeAll(tasks)) {
                results.add(each.get());
            }
            return results;
        } catch (ExecutionException e) {
            throw e.getCause() instanceof BenchFailure failure
                    ? failure
                    : new BenchFailure(e.getCause().toString());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new BenchFailure("interrupted");
        }
    }
}
