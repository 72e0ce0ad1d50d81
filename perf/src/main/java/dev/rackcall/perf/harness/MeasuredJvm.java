package dev.rackcall.perf.harness;

import dev.rackcall.shm.os.Affinity;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;

/**
 * The program of a measured JVM: one side of one subject. Its standard input has lines: the subject's {@link Sides},
 * then {@link Order}s; its standard output has their answers. If the input ends without {@link Wire#QUIT}, the
 * coordinator is dead: the child removes the run's directory and ends, too.
 */
public final class MeasuredJvm {
    /** What the JVM does. */
    enum Role {
        /** Answers calls until the coordinator orders it to quit. */
        SERVER,
        /** Calls as the coordinator orders. */
        CLIENT,
        /** Does both, for a subject that has both sides in one process. */
        BOTH,
        /** Connects, calls once, says when the reply came, and ends. */
        FIRST_CALL
    }

    private final BlockingQueue<String> orders = new LinkedBlockingQueue<>();
    private final PrintStream answers;

    private MeasuredJvm(PrintStream answers) {
        this.answers = answers;
    }

    /** Arguments: {@link Role}, directory, processor or -1. */
    public static void main(String[] args) {
        PrintStream answers = System.out;
        System.setOut(System.err); // what libraries print must not mix with the answers
        Path directory = Path.of(args[1]);
        MeasuredJvm jvm = new MeasuredJvm(answers);
        HeapAllocation.ignore(Thread.ofPlatform().daemon().name("bench-orders").start(() -> jvm.readOrders(directory)));
        int exitCode = 0;
        try {
            int cpu = Integer.parseInt(args[2]);
            if (cpu != Cores.NO_CPU) {
                Affinity.pin(cpu);
            }
            jvm.run(Role.valueOf(args[0]), (Sides) Wire.decode(jvm.orders.take()), directory);
        } catch (Throwable e) { // the coordinator must hear of any failure
            e.printStackTrace();
            jvm.answer(Wire.FAILED + e);
            exitCode = 1;
        }
        System.exit(exitCode);
    }

    private void run(Role role, Sides sides, Path directory) throws Exception {
        switch (role) {
            case SERVER -> {
                try (ServerSide server = sides.serve(directory)) {
                    obey(server);
                }
            }
            case CLIENT -> {
                try (MeasuredClient client = new MeasuredClient(sides, directory)) {
                    obey(client);
                }
            }
            case BOTH -> {
                try (ServerSide server = sides.serve(directory);
                        MeasuredClient client = new MeasuredClient(sides, directory)) {
                    assert server != null;
                    obey(client);
                }
            }
            case FIRST_CALL -> {
                try (ClientSide client = sides.connect(directory)) {
                    client.call(1);
                    answer(Wire.OK + Wire.encode(System.nanoTime()));
                }
            }
        }
    }

    @SuppressWarnings("unchecked") // the coordinator has the type of each order's side
    private void obey(Object side) throws InterruptedException {
        answer(Wire.READY);
        for (String order = orders.take(); !order.equals(Wire.QUIT); order = orders.take()) {
            try {
                answer(Wire.OK + Wire.encode(((Order<Object, Object>) Wire.decode(order)).on(side)));
            } catch (Exception | AssertionError e) { // the coordinator decides whether to go on
                e.printStackTrace();
                answer(Wire.FAILED + e);
            }
        }
    }

    private synchronized void answer(String line) {
        answers.println(line);
        answers.flush();
    }

    private void readOrders(Path directory) {
        try (BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8))) {
            String last = "";
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                last = line;
                orders.add(line);
            }
            if (last.equals(Wire.QUIT)) {
                return;
            }
            Workspace.delete(directory.getParent());
        } catch (IOException e) {
            System.err.println(directory + " may be left behind: " + e);
        }
        // Not exit(): a side that spins in a broken state must not keep the process alive.
        Runtime.getRuntime().halt(1);
    }
}
