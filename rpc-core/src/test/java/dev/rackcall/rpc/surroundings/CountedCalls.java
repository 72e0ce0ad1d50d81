package dev.rackcall.rpc.surroundings;

import dev.rackcall.rpc.RpcChannel;
import dev.rackcall.rpc.RpcServer;
import dev.rackcall.rpc.contract.Echo;
import dev.rackcall.rpc.contract.EchoService;
import dev.rackcall.rpc.spi.ServiceDefinition;
import dev.rackcall.shm.waiting.WaitStrategy;
import dev.rackcall.testkit.Await;
import dev.rackcall.testkit.Concurrently;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.LockSupport;

/**
 * A server process, which serves until its input ends; or a client process, whose thread {@link #CALLER} makes a number
 * of bursts of calls and prints when each began and ended, in microseconds since 1970.
 */
final class CountedCalls {
    static final String CALLER = "caller";
    /** How a server names its only polling thread. */
    static final String POLLER = "rackcall-poll-0";

    /** Begins the line of a burst. */
    private static final String BURST = "burst ";

    private static final int WARM_UP = 2_000;

    private CountedCalls() {}

    /**
     * The program.
     *
     * @param arguments "serve" or "call", the runtime folder, and the wait strategy; then for the client the number of
     *     bursts, calls per burst, and milliseconds between bursts
     */
    public static void main(String[] arguments) throws Exception {
        Path folder = Path.of(arguments[1]);
        WaitStrategy waiting = WaitStrategy.valueOf(arguments[2]);
        if (arguments[0].equals("serve")) {
            serve(folder, waiting);
            return;
        }
        int bursts = Integer.parseInt(arguments[3]);
        int calls = Integer.parseInt(arguments[4]);
        Duration gap = Duration.ofMillis(Long.parseLong(arguments[5]));
        Concurrently.get(Concurrently.start(() -> {
                    Thread.currentThread().setName(CALLER);
                    return call(folder, waiting, bursts, calls, gap);
                }))
                .forEach(System.out::println);
    }

    /** When each burst took place, from what the client printed. */
    static List<SystemCalls.Span> bursts(String output) {
        return output.lines()
                .filter(line -> line.startsWith(BURST))
                .map(line -> line.split(" "))
                .map(words -> new SystemCalls.Span(Long.parseLong(words[1]), Long.parseLong(words[2])))
                .toList();
    }

    private static void serve(Path folder, WaitStrategy waiting) throws IOException {
        try (RpcServer server = RpcServer.builder()
                .service(Echo.class, new EchoService())
                .waiting(waiting)
                .pollers(1)
                // A relieved polling thread would have another name.
                .stuckAfter(Duration.ofMinutes(5))
                .runtimeFolder(folder)
                .start()) {
            System.out.println("serving");
            System.in.transferTo(System.out);
        }
    }

    private static List<String> call(Path folder, WaitStrategy waiting, int bursts, int calls, Duration gap) {
        try (RpcChannel channel = RpcChannel.builder(
                        ServiceDefinition.of(Echo.class).channel())
                .defaultTimeout(Await.BOUND)
                .connectTimeout(Await.BOUND)
                .waiting(waiting)
                .runtimeFolder(folder)
                .open()) {
            Echo echo = channel.stub(Echo.class);
            add(echo, WARM_UP);
            List<Instant> times = new ArrayList<>();
            for (int i = 0; i < bursts; i++) {
                LockSupport.parkNanos(gap.toNanos());
                times.add(Instant.now());
                add(echo, calls);
                times.add(Instant.now());
            }
            List<String> lines = new ArrayList<>();
            for (int i = 0; i < times.size(); i += 2) {
                lines.add(BURST + micros(times.get(i)) + " " + micros(times.get(i + 1)));
            }
            return lines;
        }
    }

    private static void add(Echo echo, int calls) {
        for (int i = 0; i < calls; i++) {
            if (echo.add(i, 1) != i + 1) {
                throw new AssertionError("a wrong sum at call " + i);
            }
        }
    }

    private static long micros(Instant time) {
        return ChronoUnit.MICROS.between(Instant.EPOCH, time);
    }
}
