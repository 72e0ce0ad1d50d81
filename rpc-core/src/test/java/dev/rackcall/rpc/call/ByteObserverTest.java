package dev.rackcall.rpc.call;

import static org.assertj.core.api.Assertions.assertThat;

import dev.rackcall.rpc.ByteObserver;
import dev.rackcall.rpc.CallOptions;
import dev.rackcall.rpc.ClientInterceptor;
import dev.rackcall.rpc.Metadata;
import dev.rackcall.rpc.RpcChannel;
import dev.rackcall.rpc.RpcContext;
import dev.rackcall.rpc.RpcServer;
import dev.rackcall.rpc.Status;
import dev.rackcall.rpc.contract.Echo;
import dev.rackcall.rpc.contract.EchoService;
import dev.rackcall.rpc.contract.Library;
import dev.rackcall.rpc.contract.LibraryService;
import dev.rackcall.rpc.contract.Meter;
import dev.rackcall.rpc.contract.MeterService;
import dev.rackcall.rpc.contract.RpcFixture;
import dev.rackcall.shm.Ref;
import dev.rackcall.shm.Scope;
import dev.rackcall.testkit.Await;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.LongAdder;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What a call passes is known to the byte, for calls of each kind. */
class ByteObserverTest extends RpcFixture {
    private final EchoService service = new EchoService();
    private final LongAdder copied = new LongAdder();
    private final LongAdder byPointer = new LongAdder();
    /** At the server. */
    private final LongAdder served = new LongAdder();

    private RpcChannel channel;
    private boolean countsServed = true;

    private void count(ClientInterceptor.Call call, Runnable next) {
        call.addHeaders(Metadata.of("user", "ann"));
        call.onBytes(this::passed);
        next.run();
    }

    private void countServed(RpcContext call, Runnable next) {
        call.addTrailers(Metadata.of("cost", "1"));
        call.onBytes(this::servedPassed);
        next.run();
    }

    /** Adds what counts the bytes at the server. */
    RpcServer.Builder counting(RpcServer.Builder builder) {
        return builder.interceptor(this::countServed);
    }

    /** Adds what counts the bytes at the client. */
    RpcChannel.Builder counting(RpcChannel.Builder builder) {
        return builder.interceptor(this::count);
    }

    final void passed(long encoded, long pointedTo) {
        copied.add(encoded);
        byPointer.add(pointedTo);
    }

    final void servedPassed(long encoded, long pointedTo) {
        served.add(encoded);
        assertThat(pointedTo).isZero();
    }

    @BeforeEach
    void start() {
        serve(counting(serving(Echo.class, service))
                .service(Meter.class, new MeterService())
                .service(Library.class, new LibraryService()));
        channel = open(counting(channel(Echo.class)));
    }

    private void assertPassed(long expectedCopied, long expectedByPointer) {
        // A stream that the caller sends is encoded on a thread of its own.
        Await.until("the bytes", () -> copied.sum() >= expectedCopied);
        assertThat(copied.sumThenReset()).as("copied").isEqualTo(expectedCopied);
        // The server counts once it has answered.
        if (countsServed) {
            Await.until("the server's bytes", () -> served.sum() >= expectedCopied);
            assertThat(served.sumThenReset()).as("copied at the server").isEqualTo(expectedCopied);
        }
        assertThat(byPointer.sumThenReset()).as("by pointer").isEqualTo(expectedByPointer);
    }

    @Test
    void shouldCountTheArgumentsAndResultsOfEachKindOfCall() {
        Echo echo = channel.stub(Echo.class);
        echo.nothing();
        assertPassed(0, 0);
        assertThat(echo.add(1, 2)).isEqualTo(3);
        assertPassed(3 * Long.BYTES, 0);
        // Outside the slot.
        assertThat(echo.bytes(new byte[100_000])).hasSize(100_000);
        assertPassed(2 * (Integer.BYTES + 100_000), 0);
        assertThat(echo.later(7, 0).join()).isEqualTo(7);
        assertPassed(3 * Integer.BYTES, 0);
        echo.note("one-way");
        assertPassed(Integer.BYTES + "one-way".length(), 0);
        assertThat(echo.count(0, 1_000).toList()).hasSize(1_000);
        assertPassed((2 + 1_000) * Integer.BYTES, 0);
    }

    @Test
    void shouldCountTheElementsThatTheCallerSends() {
        Meter meter = channel.stub(Meter.class);
        assertThat(meter.doubled(Stream.of(1, 2, 3)).toList()).containsExactly(2, 4, 6);
        assertPassed(6 * Integer.BYTES, 0);
        assertThat(meter.taken(Stream.empty())).isZero();
        assertPassed(Integer.BYTES, 0);
    }

    @Test
    void shouldCountTheArgumentsOfAFailedCall() {
        Echo echo = channel.stub(Echo.class);
        assertFails(Status.Code.NOT_FOUND, () -> echo.fail("NOT_FOUND", "none"));
        assertPassed(2 * Integer.BYTES + "NOT_FOUND".length() + "none".length(), 0);
    }

    @Test
    void shouldCountTheScopeOfAnArgumentByPointer() {
        Library library = channel.stub(Library.class);
        try (Scope scope = channel.newScope()) {
            Library.Page page = scope.create(Library.Page.class);
            page.next(Ref.nullRef());
            page.text("x".repeat(100_000));
            assertThat(library.sum(page)).isEqualTo(page.number());
            assertThat(scope.bytesHeld()).isGreaterThan(100_000);
            assertPassed(2 * Long.BYTES, scope.bytesHeld());
        }
    }

    /** Such a call is encoded before it has a connection, and then again into the memory of one of two. */
    @Test
    void shouldCountACallThatWaitsForItsServersOnce() {
        // Its servers have no interceptor.
        countsServed = false;
        channel = keep(counting(channel("/test/later")).openLazily());
        Echo echo =
                channel.stub(Echo.class, CallOptions.DEFAULT.withWaitForReady().withTimeout(Await.BOUND));
        CompletableFuture<Integer> later = echo.later(7, 0);
        RpcServer[] servers = {later(), later()};
        assertThat(later.join()).isEqualTo(7);
        assertPassed(3 * Integer.BYTES, 0);
        Await.until("both have the client", () -> servers[0].connections() * servers[1].connections() > 0);
        for (int i = 0; i < 10; i++) {
            assertThat(echo.add(i, 1)).isEqualTo(i + 1);
            assertThat(echo.later(i, 0).join()).isEqualTo(i);
        }
        assertPassed(10 * (3 * Long.BYTES + 3 * Integer.BYTES), 0);
    }

    private RpcServer later() {
        return serve(
                RpcServer.builder().service(Echo.class, service, "/test/later").runtimeFolder(directory));
    }

    /** Its exception must not end the call, nor keep the bytes from another observer. */
    @Test
    void shouldGoOnWhenAnObserverThrows() {
        ByteObserver broken = (_, _) -> {
            throw new IllegalStateException("a mistake in the observer");
        };
        channel = open(counting(channel(Echo.class).interceptor((call, next) -> {
            call.onBytes(broken);
            next.run();
        })));
        assertThat(channel.stub(Echo.class).add(1, 2)).isEqualTo(3);
        assertPassed(3 * Long.BYTES, 0);
    }
}
