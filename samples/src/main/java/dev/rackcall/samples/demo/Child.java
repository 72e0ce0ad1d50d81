package dev.rackcall.samples.demo;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import tools.jackson.databind.DeserializationFeature;
import tools.jackson.databind.json.JsonMapper;

/**
 * Runs in a process that a demo has started with {@link ChildProcess}. It gets its setup as an argument and {@link
 * Order}s on standard input. On standard output it writes {@link #OK} with an answer in JSON, {@link #FAILED} with a
 * sentence, or {@link #PROGRESS} with a number. If the input ends without {@link Order#QUIT}, the demo has died; the
 * process then removes the demo's folder and ends.
 */
final class Child {
    static final String OK = "ok ";
    static final String FAILED = "failed ";
    static final String PROGRESS = "progress ";

    static final JsonMapper MAPPER = JsonMapper.builder()
            .disable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES)
            .build();

    private static final long PROGRESS_NANOS = 200_000_000;

    private final PrintStream answers = new PrintStream(System.out, true, StandardCharsets.UTF_8);
    private final BlockingQueue<Order> orders = new LinkedBlockingQueue<>();
    private long lastProgress = System.nanoTime();

    /** The orders to a process. */
    enum Order {
        /** A client reads or makes its next documents; the answer is {@link ClientWork.Prepared}. */
        PREPARE,
        /** A client hands over some of them and searches, so that the JIT compiles the code of both sides. */
        WARM_UP,
        /** The server forgets all documents. */
        CLEAR,
        /** A client hands over what it has prepared; {@link ClientWork.Done}. */
        BUILD,
        /** A client gets documents by their numbers; {@link ClientWork.Done}. */
        GET,
        /** A client makes all its searches; {@link ClientWork.Done}. */
        SEARCH,
        /** The server describes its content; {@code Store.Summary}. */
        SUMMARY,
        /** A host of the rack demo stops using its pool; no answer. */
        LEAVE_MEMORY,
        /** The host uses its pool again; no answer. */
        TAKE_MEMORY,
        QUIT
    }

    /** The work of a process, from its start to {@link Order#QUIT}. */
    @FunctionalInterface
    interface Work {
        void run(Child child) throws Exception;
    }

    /** Answers one order. */
    @FunctionalInterface
    interface Obedient {
        Object obey(Order order) throws Exception;
    }

    private Child() {}

    /** Does the process's work, and ends the JVM. */
    static void run(Path workplace, Work work) {
        Child child = new Child();
        System.setOut(System.err); // what libraries print must not mix with the answers
        Thread.ofPlatform().daemon().name("orders").start(() -> child.read(workplace));
        int exitCode = 0;
        try {
            work.run(child);
        } catch (Exception | Error e) { // the demo reports every failure
            child.answers.println(FAILED + sentence(e));
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
        // Not exit(): a stuck call must not keep the process alive.
        Runtime.getRuntime().halt(1);
    }

    /** Reports that the process is ready for orders. */
    void ready() {
        answer(true);
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
        answers.println(OK + MAPPER.writeValueAsString(answer));
    }

    /** Reports how much of the current order is done, at most five times a second. */
    void progress(long done) {
        long now = System.nanoTime();
        if (now - lastProgress > PROGRESS_NANOS) {
            lastProgress = now;
            answers.println(PROGRESS + done);
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
