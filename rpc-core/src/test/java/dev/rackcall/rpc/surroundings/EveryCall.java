package dev.rackcall.rpc.surroundings;

import dev.rackcall.rpc.RpcChannel;
import dev.rackcall.rpc.RpcServer;
import dev.rackcall.rpc.contract.Echo;
import dev.rackcall.rpc.contract.EchoService;
import dev.rackcall.rpc.contract.Meter;
import dev.rackcall.rpc.contract.MeterService;
import dev.rackcall.rpc.contract.RpcFixture;
import dev.rackcall.rpc.shm.protocol.LostWakeUps;
import dev.rackcall.rpc.spi.ServiceDefinition;
import dev.rackcall.shm.waiting.WaitCounts;
import dev.rackcall.testkit.Await;
import dev.rackcall.testkit.Concurrently;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * A server process, which serves until its input ends; or a client process, which makes calls of every kind and checks
 * the answers. Both print the wake-ups that they lost.
 */
final class EveryCall {
    private static final int THREADS = 4;
    private static final int CALLS = 500;

    private EveryCall() {}

    /**
     * The program.
     *
     * @param arguments "serve" or "call", and the runtime folder
     */
    public static void main(String[] arguments) throws Exception {
        LostWakeUps.grace(RpcFixture.GRACE);
        Path folder = Path.of(arguments[1]);
        if (arguments[0].equals("serve")) {
            serve(folder);
        } else {
            call(folder);
        }
        System.out.println("lost " + WaitCounts.of(WaitCounts.Kind.RESCUED));
    }

    private static void serve(Path folder) throws IOException {
        try (RpcServer server = RpcServer.builder()
                .service(Echo.class, new EchoService())
                .service(Meter.class, new MeterService())
                // Its calls stay in order, however late this process gets the processor.
                .stuckAfter(Duration.ofMinutes(5))
                .runtimeFolder(folder)
                .start()) {
            System.out.println("serving");
            System.in.transferTo(System.out);
        }
    }

    private static void call(Path folder) throws Exception {
        try (RpcChannel echoes = channel(Echo.class, folder);
                RpcChannel meters = channel(Meter.class, folder)) {
            Echo echo = echoes.stub(Echo.class);
            Meter meter = meters.stub(Meter.class);
            Concurrently.run(THREADS, thread -> add(echo, thread));
            System.out.println("synchronous calls");
            addOnVirtualThreads(echo);
            System.out.println("virtual threads");
            List<CompletableFuture<Integer>> futures =
                    IntStream.range(0, CALLS).mapToObj(i -> echo.later(i, 0)).toList();
            for (int i = 0; i < CALLS; i++) {
                require(i, futures.get(i).get(Await.BOUND.toSeconds(), TimeUnit.SECONDS), "a future");
            }
            System.out.println("futures");
            try (Stream<Integer> read = echo.count(0, CALLS)) {
                require(sum(CALLS), read.mapToLong(i -> i).sum(), "a stream that is read");
            }
            Stream<Meter.Reading> readings = IntStream.range(0, CALLS).mapToObj(i -> new Meter.Reading("here", i));
            require(sum(CALLS), meter.record("nobody", readings).sum(), "a stream that is sent");
            System.out.println("streams");
            List<String> notes =
                    IntStream.range(0, CALLS).mapToObj(i -> "note " + i).toList();
            notes.forEach(echo::note);
            Await.equal("one-way calls, each once and in order", notes, echo::notes);
            System.out.println("one-way calls");
        }
    }

    private static RpcChannel channel(Class<?> service, Path folder) {
        return RpcChannel.builder(ServiceDefinition.of(service).channel())
                .defaultTimeout(Await.BOUND)
                .connectTimeout(Await.BOUND)
                .runtimeFolder(folder)
                .open();
    }

    private static void add(Echo echo, int thread) {
        for (int i = 0; i < CALLS; i++) {
            require((long) thread + i, echo.add(thread, i), "a call");
        }
    }

    private static void addOnVirtualThreads(Echo echo) {
        List<CompletableFuture<Void>> ends = new ArrayList<>();
        for (int i = 0; i < CALLS; i++) {
            int number = i;
            ends.add(CompletableFuture.runAsync(
                    () -> require(number + 1L, echo.add(number, 1), "a virtual thread's call"),
                    Thread::startVirtualThread));
        }
        CompletableFuture.allOf(ends.toArray(CompletableFuture[]::new)).join();
    }

    private static long sum(long count) {
        return count * (count - 1) / 2;
    }

    private static void require(long expected, long found, String what) {
        if (found != expected) {
            throw new AssertionError(what + " brought " + found + " instead of " + expected);
        }
    }
}
