package dev.rackcall.testkit;

import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.IntStream;

/** Runs work on threads of its own. */
public final class Concurrently {
    /** What one of several threads does, and its result. They are numbered from 0. */
    public interface Work<T> {
        T run(int number) throws Exception;
    }

    /** As {@link Work}, without a result. */
    public interface Task {
        void run(int number) throws Exception;
    }

    private Concurrently() {}

    /** Starts a daemon thread, even where the common pool has none to spare. */
    public static <T> CompletableFuture<T> start(Callable<T> work) {
        CompletableFuture<T> result = new CompletableFuture<>();
        Thread.ofPlatform().daemon().start(() -> {
            try {
                result.complete(work.call());
            } catch (Throwable t) {
                result.completeExceptionally(t);
            }
        });
        return result;
    }

    /** The results of several threads that run at once; fails if one of them fails or exceeds {@link Await#BOUND}. */
    public static <T> List<T> call(int threads, Work<T> work) {
        List<CompletableFuture<T>> running = IntStream.range(0, threads)
                .mapToObj(number -> start(() -> work.run(number)))
                .toList();
        return running.stream().map(Concurrently::get).toList();
    }

    /** As {@link #call}, without results. */
    public static void run(int threads, Task task) {
        call(threads, number -> {
            task.run(number);
            return number;
        });
    }

    /** The result; fails as its thread did, or after {@link Await#BOUND}. */
    public static <T> T get(CompletableFuture<T> future) {
        try {
            return future.get(Await.BOUND.toSeconds(), TimeUnit.SECONDS);
        } catch (ExecutionException e) {
            throw new AssertionError(e.getCause());
        } catch (InterruptedException | TimeoutException e) {
            throw new AssertionError(e);
        }
    }
}
