package dev.rackcall.perf;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;

/**
 * What runs in a measured JVM: the server or the client side of one subject. It takes {@link Order}s from its standard input, one line each,
 * and answers on its standard output with {@code ok} and JSON, or {@code failed} and what happened. If the input ends without
 * {@link Order.Action#QUIT}, the coordinator is dead: the child removes what both worked in and ends, too.
 */
final class BenchChild {
    static final String OK = "ok ";
    static final String FAILED = "failed ";
    static final String READY = "ready";
    static final int NO_CPU = -1;

    private final BlockingQueue<Order> orders = new LinkedBlockingQueue<>();
    private final PrintStream answers;

    private BenchChild(PrintStream answers) {
        this.answers = answers;
    }

    /** Arguments: {@link ChildRole}, subject, directory, processor or -1. */
    public static void main(String[] args) {
        PrintStream answers = System.out;
        System.setOut(System.err); // what libraries print must not mix with the answers
        ChildRole role = ChildRole.valueOf(args[0]);
        Subject subject = Subjects.named(args[1]);
        Path directory = Path.of(args[2]);
        BenchChild child = new BenchChild(answers);
        Allocation.ignore(Thread.ofPlatform().daemon().name("bench-orders").start(() -> child.readOrders(directory)));
        int exitCode = 0;
        try {
            Cores.pinCurrentThread(Integer.parseInt(args[3]));
            child.run(role, subject, directory);
        } catch (Throwable e) { // whatever it was, the coordinator has to hear of it
            e.printStackTrace();
            child.answer(FAILED + e);
            exitCode = 1;
        }
        System.exit(exitCode);
    }

    private void run(ChildRole role, Subject subject, Path directory) throws Exception {
        switch (role) {
            case SERVER -> {
                try (ServerSide server = subject.serve(directory)) {
                    answer(READY);
                    obey(new ServerOrders(server));
                }
            }
            case CLIENT -> {
                // In-process subjects have both sides here; the others' server side runs already.
                try (ServerSide server = subject.crossProcess() ? () -> {} : subject.serve(directory);
                        ClientOrders client = new ClientOrders(subject, directory)) {
                    answer(READY);
                    obey(client);
                }
            }
            case FIRST_CALL -> {
                try (ClientSide client = subject.connect(directory)) {
                    client.call(1);
                    answer(OK + System.nanoTime());
                }
            }
        }
    }

    private void obey(OrderHandler handler) throws InterruptedException {
        for (Order order = orders.take(); order.action() != Order.Action.QUIT; order = orders.take()) {
            try {
                answer(OK + Json.LINE.writeValueAsString(handler.handle(order)));
            } catch (Exception | AssertionError e) { // the coordinator decides whether to go on
                e.printStackTrace();
                answer(FAILED + e);
            }
        }
    }

    private synchronized void answer(String line) {
        answers.println(line);
        answers.flush();
    }

    private void readOrders(Path directory) {
        try (BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8))) {
            boolean quit = false;
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                Order order = Json.LINE.readValue(line, Order.class);
                quit = order.action() == Order.Action.QUIT;
                orders.add(order);
            }
            if (quit) {
                return;
            }
            Workspace.delete(directory.getParent());
        } catch (IOException e) {
            System.err.println(directory + " may be left behind: " + e);
        }
        // Not exit(): a side that spins in a broken state must not keep the process alive.
        Runtime.getRuntime().halt(1);
    }

    /** Does what an order says. */
    @FunctionalInterface
    interface OrderHandler {
        /** @return what the answer's JSON is made of */
        Object handle(Order order) throws Exception;
    }

    private record ServerOrders(ServerSide server) implements OrderHandler {
        @Override
        public Object handle(Order order) throws IOException {
            return switch (order.action()) {
                case PAUSE -> {
                    server.pause();
                    yield true;
                }
                case RESUME -> {
                    server.resume();
                    yield true;
                }
                case ALLOCATED -> new Allocation(Allocation.ofOtherThreads(), 0);
                case FOOTPRINT -> Footprint.ofThisProcess();
                default ->
                    throw new IllegalArgumentException("a server side does not know the order " + order.action());
            };
        }
    }
}
