package dev.rackcall.rpc.death;

import static org.assertj.core.api.Assertions.assertThat;

import dev.rackcall.rpc.RpcChannel;
import dev.rackcall.rpc.RpcException;
import dev.rackcall.rpc.RpcServer;
import dev.rackcall.rpc.Status;
import dev.rackcall.rpc.contract.Echo;
import dev.rackcall.rpc.contract.EchoService;
import dev.rackcall.rpc.contract.Library;
import dev.rackcall.rpc.contract.LibraryService;
import dev.rackcall.rpc.contract.RpcFixture;
import dev.rackcall.testkit.Await;
import dev.rackcall.testkit.ChildJvm;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * A stopped process (SIGSTOP) is slow, not dead: others continue, deadlines hold, and after SIGCONT its calls continue.
 */
class PauseTest extends RpcFixture {
    private static final Duration SHORT = Duration.ofMillis(200);
    /** Longer than the server is paused. */
    private static final Duration PATIENT = Duration.ofMinutes(5);

    private static final Duration BOUND = Duration.ofSeconds(100);
    private static final int PAUSES = 5;

    @Test
    void shouldServeOthersWhileAClientIsStopped() throws Exception {
        Map<Integer, AtomicLong> callsByPid = new ConcurrentHashMap<>();
        RpcServer server = serve(serving(Echo.class, new EchoService())
                .service(Library.class, new LibraryService())
                .interceptor((call, next) -> {
                    callsByPid
                            .computeIfAbsent(call.peer().pid(), pid -> new AtomicLong())
                            .incrementAndGet();
                    next.run();
                }));
        ChildJvm paused = keep(ChildJvm.start(
                BusyClient.class,
                directory,
                directory,
                7,
                BusyCaller.Style.SPINNING,
                BusyCaller.Style.ASYNC,
                BusyCaller.Style.STREAMING,
                BusyCaller.Style.SHARED));
        BusyCaller other = keep(new BusyCaller(BusyCaller.Style.SLEEPING, directory, 8));
        paused.awaitLine("calling");
        AtomicLong calls = callsByPid.get((int) paused.pid());
        int connections = server.connections();
        for (int pause = 0; pause < PAUSES; pause++) {
            paused.pause();
            for (int i = 0; i < 50; i++) {
                other.call();
            }
            // Its earlier requests are served; then none are left.
            long before;
            do {
                before = calls.get();
                other.call();
                LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(5));
            } while (calls.get() > before);
            paused.resume();
            long stopped = before;
            Await.until("calls of the client that goes on", () -> calls.get() > stopped + 100);
            // A wrong or lost answer would have ended the process.
            assertThat(paused.isAlive()).isTrue();
        }
        assertThat(server.connections()).isEqualTo(connections);
    }

    @Test
    void shouldGoOnAfterAServerThatWasStopped() throws Exception {
        try (ChildJvm server = ChildJvm.start(StandbyServer.class, directory, directory.toString(), "in order")) {
            server.awaitLine("ready");
            server.send("serve");
            server.awaitLine("serving");
            try (RpcChannel channel = channel(Echo.class).open();
                    RpcChannel notes =
                            channel(Echo.class).defaultTimeout(PATIENT).open()) {
                Echo patient = channel.stub(Echo.class);
                Echo hurried = channel.stub(Echo.class, within(SHORT));
                assertThat(patient.add(1, 1)).isEqualTo(2);

                server.pause();
                assertThat(codeOf(() -> hurried.add(1, 1))).isEqualTo(Status.Code.DEADLINE_EXCEEDED);
                assertThat(codeOf(() -> joined(hurried.later(1, 0)))).isEqualTo(Status.Code.DEADLINE_EXCEEDED);
                assertThat(codeOf(() -> closed(hurried.count(0, 5)))).isEqualTo(Status.Code.DEADLINE_EXCEEDED);
                CompletableFuture<Long> sum = CompletableFuture.supplyAsync(() -> patient.add(20, 22));
                CompletableFuture<Integer> future = patient.later(7, 1);
                List<String> sent = sendUntilFull(notes.stub(Echo.class));
                assertThat(sent).isNotEmpty();
                assertFails(Status.Code.UNAVAILABLE, channel(Echo.class).connectTimeout(SHORT)::open);
                assertThat(sum).isNotDone();

                server.resume();
                assertThat(sum).succeedsWithin(BOUND).isEqualTo(42L);
                assertThat(future).succeedsWithin(BOUND).isEqualTo(7);
                // They came over another connection, so this call may overtake some of them.
                Await.equal("notes, each once and in order", sent, patient::notes);
                assertThat(notes.stub(Echo.class).notes())
                        .as("notes when all calls before this one have been served")
                        .isEqualTo(sent);
                Await.until("a call within its deadline", () -> codeOf(() -> hurried.add(2, 2)) == Status.Code.OK);
                Await.until("the connection that gave up to be forgotten", () -> connections(server) == 2);
            }
            assertThat(server.end()).isZero();
        }
        assertThat(directory.toFile().list()).isNullOrEmpty();
    }

    private static void joined(CompletableFuture<?> future) {
        try {
            future.join();
        } catch (CompletionException e) {
            throw (RpcException) e.getCause();
        }
    }

    private static void closed(Stream<?> stream) {
        stream.close();
    }

    /** One-way calls that the server does not take fill the slots and the queue; returns those that found room. */
    private static List<String> sendUntilFull(Echo echo) {
        List<String> sent = new ArrayList<>();
        while (true) {
            String note = "note " + sent.size();
            try {
                echo.note(note);
                sent.add(note);
            } catch (RpcException e) {
                assertThat(e.code()).isEqualTo(Status.Code.RESOURCE_EXHAUSTED);
                return sent;
            }
        }
    }

    private static int connections(ChildJvm server) {
        try {
            server.send("connections?");
            return Integer.parseInt(server.awaitLine("connections ").substring("connections ".length()));
        } catch (IOException | InterruptedException e) {
            throw new AssertionError(e);
        }
    }
}
