package dev.rackcall.samples.demo;

import dev.rackcall.samples.demo.DemoMessages.Done;
import dev.rackcall.samples.demo.DemoMessages.Order;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;

/**
 * The process's side of {@link ChildProcess}: reads orders from standard input and writes answers to standard output. If the input ends without
 * {@link Order#QUIT}, the demo has died; the process then removes the demo's folder and ends.
 */
final class ChildOrders {
    private static final long PROGRESS_NANOS = 200_000_000;

    private final PrintStream answers = new PrintStream(System.out, true, StandardCharsets.UTF_8);
    private final BlockingQueue<Order> orders = new LinkedBlockingQueue<>();
    private long lastProgress = System.nanoTime();

    /** The work of a process, from its start to {@link Order#QUIT}. */
    @FunctionalInterface
    interface Work {
        void run(ChildOrders orders) throws Exception;
    }

    /** Answers one order. */
    @FunctionalInterface
    interface Obedient {
        Object obey(Order order) throws Exception;
    }

    private ChildOrders() {}

    /** Runs the process's work, and ends the JVM. */
    static void obey(Path workplace, Work work) {
        ChildOrders child = new ChildOrders();
        System.setOut(System.err); // what libraries print must not mix with the answers
        Thread.ofPlatform().daemon().name("orders").start(() -> child.read(workplace));
        int exitCode = 0;
        try {
            work.run(child);
        } catch (Exception | Error e) { // the demo reports every failure
            child.answers.println(DemoMessages.FAILED + sentence(e));
            exitCode = 1;
        }
        System.exit(exitCode);
    }

    private void read(Path workplace) {
        try (BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8))) {
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                Order order = Order.valueOf(line);
                orders.add(order);
                if (order == Order.QUIT) {
                    return;
                }
            }
            Workplace.delete(workplace);
        } catch (IOException e) {
            System.err.println(workplace + " may be left behind: " + e);
        }
        // Not exit(): a broken call must not keep the process alive.
        Runtime.getRuntime().halt(1);
    }

    /** Reports that the process is ready for orders. */
    void ready() {
        answer(new Done());
    }

    /** Answers orders until {@link Order#QUIT}. */
    void obeyAll(Obedient obedient) throws Exception {
        ready();
        for (Order order = take(); order != Order.QUIT; order = take()) {
            answer(obedient.obey(order));
        }
    }

    /** Waits for the next order. */
    Order take() throws InterruptedException {
        return orders.take();
    }

    /** The next order, or null if there is none yet. */
    Order poll() {
        return orders.poll();
    }

    void answer(Object answer) {
        answers.println(DemoMessages.OK + DemoMessages.MAPPER.writeValueAsString(answer));
    }

    /** Reports how much of the current order is done, at most five times a second. */
    void progress(long done) {
        long now = System.nanoTime();
        if (now - lastProgress > PROGRESS_NANOS) {
            lastProgress = now;
            answers.println(DemoMessages.PROGRESS + done);
        }
    }

    private static String sentence(Throwable failure) {
        String message = failure.getMessage();
        boolean explained = message != null
                && (failure.getClass().getName().startsWith("dev.rackcall.") || failure instanceof IOException);
        if (!explained) {
            failure.printStackTrace();
        }
        return (explained ? message : failure.toString()).replace('\n', ' ');
    }
}
