package dev.rackcall.rpc.shm.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.rackcall.rpc.CallObserver;
import dev.rackcall.rpc.Isolation;
import dev.rackcall.rpc.Metadata;
import dev.rackcall.rpc.MethodDescriptor;
import dev.rackcall.rpc.RpcException;
import dev.rackcall.rpc.Status;
import dev.rackcall.rpc.contract.Echo;
import dev.rackcall.rpc.contract.RpcFixture;
import dev.rackcall.rpc.generated.EverythingProbe;
import dev.rackcall.rpc.hostile.Catalogue;
import dev.rackcall.rpc.hostile.HostileTarget;
import dev.rackcall.rpc.shm.protocol.ControlLayout;
import dev.rackcall.rpc.shm.protocol.SlotLayout;
import dev.rackcall.rpc.spi.ClientCall;
import dev.rackcall.rpc.spi.ClientCalls;
import dev.rackcall.rpc.spi.ServiceDefinition;
import dev.rackcall.shm.Ref;
import dev.rackcall.shm.RefException;
import dev.rackcall.shm.Scope;
import dev.rackcall.shm.codec.PayloadReader;
import dev.rackcall.shm.types.SharedDataException;
import dev.rackcall.testkit.Await;
import dev.rackcall.testkit.Usage;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * A server that completes the handshake and then answers anything: every call of the client ends, with a value or with
 * an RpcException, and later calls are not disturbed. {@code -Drackcall.cases} and {@code -Drackcall.seed} as
 * in {@link HostilePeerTest}.
 */
@Timeout(900)
class LyingAnswerTest extends RpcFixture {
    private static final int CASES = Integer.getInteger("rackcall.cases", 600);
    private static final int MOST_ELEMENTS = 300;

    private final long seed = Long.getLong("rackcall.seed", System.nanoTime() & Integer.MAX_VALUE);
    private LyingServer server;

    private ShmClientConnection connect(String channel, Duration timeout) {
        ShmClientConnection connection = LyingServer.connect(channel, directory, timeout);
        keep(connection);
        connection.use(HostileScript.service(channel));
        return connection;
    }

    /** A connection to a server that answers so. */
    private ShmClientConnection connect(Duration timeout, LyingServer.Answer answer) throws IOException {
        server = keep(new LyingServer(directory, HostileScript.service("/test/echo")));
        server.answer(answer);
        return connect("/test/echo", timeout);
    }

    private Echo echo(Duration timeout, LyingServer.Answer answer) throws IOException {
        return ServiceDefinition.of(Echo.class).stub(calls(connect(timeout, answer)));
    }

    private static ClientCalls calls(ShmClientConnection connection) {
        return method -> connection.begin(method, 0, Metadata.EMPTY, Isolation.TRUSTED, CallObserver.NONE);
    }

    // ---- what the server answers

    /** Gives a request's own bytes back, as half the methods would, but spoilt. */
    private static void answer(long ticket, long slot, MemorySegment memory, Random random) {
        byte[] payload = spoil(request(slot, memory), random);
        if (random.nextInt(16) == 0) {
            SlotLayout.responseOutside(memory, slot, HostileScript.bits(random), HostileScript.bits(random));
            SlotLayout.publishResponse(memory, slot, SlotLayout.word(ticket, 0, SlotLayout.OUTSIDE, 0));
            return;
        }
        int status = random.nextInt(8) == 0 ? random.nextInt(0x10000) : 0;
        int flags = random.nextInt(8) == 0 ? random.nextInt(64) & ~SlotLayout.OUTSIDE : 0;
        if (status != 0 && random.nextBoolean()) {
            flags |= SlotLayout.METADATA;
        }
        if (payload.length <= SlotLayout.RESPONSE_INLINE_BYTES && random.nextInt(4) > 0) {
            MemorySegment.copy(
                    payload, 0, memory, ValueLayout.JAVA_BYTE, slot + SlotLayout.RESPONSE_INLINE, payload.length);
            int length = random.nextInt(32) == 0 ? random.nextInt(256) : payload.length;
            SlotLayout.publishResponse(memory, slot, SlotLayout.word(ticket, status, flags, length));
        } else {
            long reply = ControlLayout.controlBytes(LyingServer.SLOTS) + LyingServer.QUOTA;
            MemorySegment.copy(payload, 0, memory, ValueLayout.JAVA_BYTE, reply + 4096, payload.length);
            SlotLayout.responseOutside(memory, slot, payload.length, Ref.of(12, 0, 4096));
            SlotLayout.publishResponse(memory, slot, SlotLayout.word(ticket, status, flags | SlotLayout.OUTSIDE, 0));
        }
        if (random.nextInt(16) == 0) {
            // What the server writes in the header: counts and states.
            memory.set(ValueLayout.JAVA_LONG, 384, HostileScript.bits(random));
        }
    }

    private static byte[] request(long slot, MemorySegment memory) {
        long word = SlotLayout.requestWord(memory, slot);
        if ((SlotLayout.flags(word) & SlotLayout.OUTSIDE) == 0) {
            return memory.asSlice(slot + SlotLayout.REQUEST_INLINE, SlotLayout.inlineLength(word))
                    .toArray(ValueLayout.JAVA_BYTE);
        }
        long arena = ControlLayout.controlBytes(LyingServer.SLOTS);
        return memory.asSlice(
                        arena + Ref.offset(SlotLayout.requestRef(memory, slot)), SlotLayout.requestLength(memory, slot))
                .toArray(ValueLayout.JAVA_BYTE);
    }

    private static byte[] spoil(byte[] honest, Random random) {
        byte[] payload = honest.clone();
        for (int i = random.nextInt(4); i > 0 && payload.length > 0; i--) {
            int at = random.nextInt(payload.length);
            switch (random.nextInt(4)) {
                case 0 -> payload[at] = (byte) random.nextInt();
                case 1 -> payload = Arrays.copyOf(payload, at);
                case 2 -> payload = Arrays.copyOf(payload, payload.length + random.nextInt(40));
                default -> {
                    long bits = HostileScript.bits(random);
                    for (int b = 0; b < Integer.BYTES && at + b < payload.length; b++) {
                        payload[at + b] = (byte) (bits >>> (Byte.SIZE * b));
                    }
                }
            }
        }
        return payload;
    }

    // ---- what the client does

    private static List<Runnable> echoCalls(ClientCalls calls) {
        Echo echo = ServiceDefinition.of(Echo.class).stub(calls);
        Echo.Parcel parcel = new Echo.Parcel(
                "name", 3, Echo.Kind.BOX, List.of(1.0, 2.0), Map.of("a", 1L, "b", 2L), Optional.of("note"));
        return List.of(
                () -> echo.add(1, 2),
                () -> echo.bytes(new byte[50]),
                () -> echo.bytes(new byte[5000]),
                () -> echo.parcel(parcel),
                () -> echo.later(1, 2).join(),
                () -> echo.header("key"),
                echo::notes,
                () -> echo.fail("INTERNAL", "x"),
                () -> echo.count(1, 2).limit(MOST_ELEMENTS).forEach(each -> {}),
                () -> echo.failAfter(7).limit(MOST_ELEMENTS).forEach(each -> {}));
    }

    private static List<Runnable> catalogueCalls(ClientCalls calls, Scope scope) {
        Catalogue catalogue = ServiceDefinition.of(Catalogue.class).stub(calls);
        Catalogue.Node graph = HostileTarget.graph(scope, "mine", 4);
        return List.of(
                () -> catalogue.walk(graph),
                () -> catalogue.copy(graph).title(),
                () -> catalogue.same(List.of(graph, graph)).forEach(Catalogue.Node::title));
    }

    @Test
    void shouldEndEveryCallWhateverIsAnswered() throws Exception {
        run("/test/echo", connection -> echoCalls(calls(connection)));
    }

    @Test
    void shouldEndEveryCallOfEveryKindWhateverIsAnswered() throws Exception {
        run(EverythingProbe.CHANNEL, connection -> EverythingProbe.calls(calls(connection), connection.newScope(4096)));
    }

    @Test
    void shouldEndEveryCallThatReturnsObjectsWhateverIsAnswered() throws Exception {
        run("/test/catalogue", connection -> catalogueCalls(calls(connection), connection.newScope(4096)));
    }

    private interface Calls {
        List<Runnable> of(ShmClientConnection connection);
    }

    private void run(String channel, Calls calls) throws Exception {
        AtomicLong current = new AtomicLong();
        try (LyingServer server = new LyingServer(directory, HostileScript.service(channel))) {
            connect(channel, Duration.ofSeconds(5)).close();
            Map<String, Integer> before = Usage.now();
            server.answer((ticket, slot, memory) ->
                    answer(ticket, slot, memory, new Random(31 * current.get() + ticket % 3)));
            ShmClientConnection connection = connect(channel, Duration.ofSeconds(5));
            List<Runnable> all = calls.of(connection);
            for (int i = 0; i < CASES; i++) {
                current.set(seed + i);
                try {
                    all.get(i % all.size()).run();
                } catch (RpcException | RefException | SharedDataException e) {
                    assertThat(e.getMessage()).isNotBlank();
                } catch (CompletionException e) {
                    assertThat(e).as("-Drackcall.seed=%d", seed + i).hasCauseInstanceOf(RpcException.class);
                } catch (RuntimeException | Error e) {
                    throw new AssertionError("-Drackcall.seed=" + (seed + i) + " call " + i % all.size(), e);
                }
            }
            connection.close();
            Await.equal("left behind, seed " + seed, Map.of(), () -> Usage.grownSince(before));
            assertThat(server.failure()).isEmpty();
        }
    }

    // ---- chosen ones

    private static void respond(MemorySegment memory, long slot, long ticket, int status, int flags, byte[] payload) {
        MemorySegment.copy(
                payload, 0, memory, ValueLayout.JAVA_BYTE, slot + SlotLayout.RESPONSE_INLINE, payload.length);
        SlotLayout.publishResponse(memory, slot, SlotLayout.word(ticket, status, flags, payload.length));
    }

    @Test
    void shouldGiveUpOnAnswersThatNeverComeAndOnThoseToOtherCalls() throws Exception {
        Echo echo = echo(
                Duration.ofMillis(200), (ticket, slot, memory) -> respond(memory, slot, ticket + 5, 0, 0, new byte[8]));
        assertFails(Status.Code.DEADLINE_EXCEEDED, () -> echo.add(1, 2));
        assertThatThrownBy(() -> echo.later(1, 2).join())
                .isInstanceOf(CompletionException.class)
                .hasCauseInstanceOf(RpcException.class);
    }

    @Test
    void shouldNotReadAStreamWithoutElementsForEver() throws Exception {
        byte[] goesOn = {1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0};
        byte[] one = {1, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 7, 0, 0, 0};
        Echo echo = echo(
                Await.BOUND, (ticket, slot, memory) -> respond(memory, slot, ticket, 0, 0, ticket == 0 ? one : goesOn));
        List<Integer> read = new ArrayList<>();
        assertFails(Status.Code.INTERNAL, () -> echo.count(0, 1).forEach(read::add));
        assertThat(read).containsExactly(7);
        assertThat(server.failure()).isEmpty();
    }

    @Test
    void shouldReportAnUnknownCodeAsUnknown() throws Exception {
        byte[] text = {4, 0, 0, 0, '%', 's', '%', 'n', 0, 0, 0, 0};
        Echo echo = echo(
                Await.BOUND, (ticket, slot, memory) -> respond(memory, slot, ticket, 4711, SlotLayout.METADATA, text));
        RpcException failure = catchThrowableOfType(RpcException.class, () -> echo.add(1, 2));
        assertThat(failure.status()).isEqualTo(Status.Code.UNKNOWN.with("%s%n"));
    }

    /** The hang-up may be noticed before the answer is looked for. */
    @Test
    void shouldTakeTheAnswerThatWasGivenBeforeTheServerHungUp() throws Exception {
        for (int i = 0; i < 50; i++) {
            try (LyingServer server = new LyingServer(directory, HostileScript.service("/test/echo"))) {
                server.answer((ticket, slot, memory) -> {
                    respond(memory, slot, ticket, 0, 0, new byte[4]);
                    server.hangUp();
                });
                ShmClientConnection connection = connect("/test/echo", Duration.ofSeconds(20));
                Echo echo = ServiceDefinition.of(Echo.class).stub(calls(connection));
                CompletableFuture<Integer> future = echo.later(1, 2);
                Await.until("the end", () -> !connection.isOpen());
                assertThat(future.join()).isZero();
                connection.close();
            }
        }
    }

    /** Encodes and reads a future's result, for which a reader may throw anything. */
    @Test
    void shouldEndAFutureWhoseReaderThrowsAnything() throws Exception {
        ShmClientConnection connection =
                connect(Await.BOUND, (ticket, slot, memory) -> respond(memory, slot, ticket, 0, 0, new byte[4]));
        ClientCall call = begin(connection, CallObserver.NONE);
        call.arguments().writeLong(1);
        assertThatThrownBy(() -> call.invokeAsync((PayloadReader in, ClientCall of) -> {
                            throw new StackOverflowError("expected in this test");
                        })
                        .join())
                .isInstanceOf(CompletionException.class)
                .hasCauseInstanceOf(RpcException.class);
    }

    private static ClientCall begin(ShmClientConnection connection, CallObserver observer) {
        MethodDescriptor method = HostileScript.service("/test/echo").methods().getFirst();
        return connection.begin(method, 0, Metadata.EMPTY, Isolation.TRUSTED, observer);
    }

    /** The first answer is read within the call, later ones when the stream goes on. */
    @Test
    void shouldEndAStreamWhoseReaderThrowsAnything() throws Exception {
        byte[] one = {1, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 7, 0, 0, 0};
        ShmClientConnection connection =
                connect(Await.BOUND, (ticket, slot, memory) -> respond(memory, slot, ticket, 0, 0, one));
        List<Status.Code> told = new ArrayList<>();
        ClientCall call = begin(connection, (status, trailers) -> told.add(status.code()));
        List<Integer> read = new ArrayList<>();
        Stream<Integer> stream = call.invokeStream((PayloadReader in, ClientCall of) -> {
            if (!read.isEmpty()) {
                throw new StackOverflowError("expected in this test");
            }
            return in.readInt();
        });
        assertThatThrownBy(() -> stream.forEach(read::add)).isInstanceOf(StackOverflowError.class);
        assertThat(read).containsExactly(7);
        assertThat(told).containsExactly(Status.Code.INTERNAL);
        connection.close();
        assertThat(server.failure()).isEmpty();
    }
}
