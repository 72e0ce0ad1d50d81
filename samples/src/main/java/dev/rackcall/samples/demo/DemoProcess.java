package dev.rackcall.samples.demo;

import dev.rackcall.samples.demo.DemoMessages.Done;
import dev.rackcall.samples.demo.DemoMessages.Order;
import dev.rackcall.samples.demo.DemoMessages.Role;
import dev.rackcall.samples.demo.DemoMessages.Setup;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;

/**
 * What runs in each of the demo's processes: a server or a client that obeys orders from its standard input. If the input ends without
 * {@link Order#QUIT} the conductor is dead; the process then removes the directory that all work in, and ends.
 */
final class DemoProcess {
    private static final long PROGRESS_NANOS = 200_000_000;

    private final Setup setup;
    private final PrintStream answers;
    private final BlockingQueue<Order> orders = new LinkedBlockingQueue<>();
    private long lastProgress = System.nanoTime();

    private DemoProcess(Setup setup, PrintStream answers) {
        this.setup = setup;
        this.answers = answers;
    }

    /** The one argument is a {@link Setup}. */
    public static void main(String[] args) {
        PrintStream answers = new PrintStream(System.out, true, StandardCharsets.UTF_8);
        System.setOut(System.err); // what libraries print must not mix with the answers
        DemoProcess process = new DemoProcess(DemoMessages.MAPPER.readValue(args[0], Setup.class), answers);
        Thread.ofPlatform().daemon().name("orders").start(process::readOrders);
        int exitCode = 0;
        try {
            process.run();
        } catch (Exception | Error e) { // whatever it was, the conductor has to hear of it
            answers.println(DemoMessages.FAILED + sentence(e));
            exitCode = 1;
        }
        System.exit(exitCode);
    }

    private void run() throws Exception {
        if (setup.role() == Role.SERVER) {
            try (StoreServer server = StoreServer.open(setup)) {
                obeyAll(order -> serve(server, order));
            }
        } else {
            try (ClientWork client = new ClientWork(setup, this::progress)) {
                obeyAll(client::obey);
            }
        }
    }

    private static Object serve(StoreServer server, Order order) {
        return switch (order) {
            case CLEAR -> {
                server.store().clear();
                yield new Done();
            }
            case SUMMARY -> server.store().summary();
            case PREPARE, WARM_UP, BUILD, SEARCH, QUIT ->
                throw new IllegalArgumentException("a server does not know the order " + order);
        };
    }

    private void obeyAll(Obedient obedient) throws Exception {
        answer(new Done());
        for (Order order = orders.take(); order != Order.QUIT; order = orders.take()) {
            answer(obedient.obey(order));
        }
    }

    private void answer(Object answer) {
        answers.println(DemoMessages.OK + DemoMessages.MAPPER.writeValueAsString(answer));
    }

    private void progress(long done) {
        long now = System.nanoTime();
        if (now - lastProgress > PROGRESS_NANOS) {
            lastProgress = now;
            answers.println(DemoMessages.PROGRESS + done);
        }
    }

    private void readOrders() {
        try (BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8))) {
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                Order order = Order.valueOf(line);
                orders.add(order);
                if (order == Order.QUIT) {
                    return;
                }
            }
            Workplace.delete(setup.directory());
        } catch (IOException e) {
            System.err.println(setup.directory() + " may be left behind: " + e);
        }
        // Not exit(): a broken call must not keep the process alive.
        Runtime.getRuntime().halt(1);
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

    /** Does what an order says. */
    @FunctionalInterface
    private interface Obedient {
        /** Returns the answer. */
        Object obey(Order order) throws Exception;
    }
}
