package dev.rackcall.rpc.shm.client;

import static org.assertj.core.api.Assertions.assertThat;

import dev.rackcall.rpc.Dispatch;
import dev.rackcall.rpc.RpcServer;
import dev.rackcall.rpc.Status;
import dev.rackcall.rpc.call.Feed;
import dev.rackcall.rpc.contract.Echo;
import dev.rackcall.rpc.contract.EchoService;
import dev.rackcall.rpc.contract.RpcFixture;
import dev.rackcall.rpc.shm.protocol.ControlLayout;
import dev.rackcall.rpc.shm.protocol.ControlOp;
import dev.rackcall.rpc.shm.protocol.SlotLayout;
import dev.rackcall.shm.Ref;
import dev.rackcall.shm.codec.PayloadWriter;
import dev.rackcall.testkit.Await;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.HashMap;
import java.util.concurrent.CountDownLatch;
import java.util.function.BiConsumer;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Each thing that only a broken or hostile client sends ends its connection, and no other; {@link HostilePeerTest}
 * tries them at random.
 */
class ProtocolBreachTest extends RpcFixture {
    private static final int MOST_TRIES = 50;

    private final CountDownLatch inside = new CountDownLatch(1);
    private final CountDownLatch end = new CountDownLatch(1);
    private RpcServer server;

    @BeforeEach
    void start() {
        server = serve(serving(Feed.class, Feed.of(Stream::empty))
                .service(Echo.class, new EchoService())
                .interceptor((call, next) -> {
                    if (call.method().name().equals("items")) {
                        inside.countDown();
                        Await.latch(end);
                    }
                    next.run();
                })
                .dispatch(Dispatch.workers(2)));
    }

    @AfterEach
    void stop() {
        end.countDown();
    }

    private HostileConnection hostile() throws IOException {
        return keep(HostileConnection.open(directory, "/test/feed", new HashMap<>()));
    }

    private static int method(String name) {
        return HostileConnection.method(Feed.class, name);
    }

    private static void call(HostileConnection connection, int flags, int inlineBytes) {
        connection.publish(SlotLayout.word(0, method("add"), flags, inlineBytes));
    }

    private static long requestRef(HostileConnection connection, long offset) {
        return Ref.of(connection.serverHello.request().id(), 0, offset);
    }

    /** What is wrong with a request. */
    enum Breach {
        INLINE_LENGTH_BEYOND_THE_SLOT((connection, inside) -> call(connection, 0, SlotLayout.REQUEST_INLINE_BYTES + 1)),
        PAYLOAD_IN_ANOTHER_ARENA((connection, inside) ->
                callWith(connection, 16, Ref.of(connection.serverHello.reply().id(), 0, 8192))),
        PAYLOAD_BEYOND_ITS_ARENA((connection, inside) -> callWith(
                connection,
                16,
                requestRef(connection, connection.serverHello.request().bytes() - 8))),
        PAYLOAD_LONGER_THAN_ITS_ARENA(
                (connection, inside) -> callWith(connection, Long.MAX_VALUE, requestRef(connection, 8192))),
        PAYLOAD_OF_NEGATIVE_LENGTH((connection, inside) -> callWith(connection, -1, requestRef(connection, 8192))),
        SLOT_OF_A_CALL_UNDER_WAY((connection, inside) -> {
            connection.publish(SlotLayout.word(0, method("items"), 0, 0));
            Await.latch(inside);
            for (int i = 1; i < HostileConnection.SLOTS; i++) {
                connection.publish(SlotLayout.word(0, 0, SlotLayout.SKIP, 0));
            }
            call(connection, 0, 16);
        }),
        CONTROL_REQUEST_OF_WRONG_LENGTH((connection, inside) ->
                connection.publish(SlotLayout.word(0, ControlOp.CANCEL, SlotLayout.CONTROL, 4))),
        SERVICE_THAT_IT_HAS_NOT_BOUND(
                (connection, inside) -> connection.publish(SlotLayout.word(0, SlotLayout.methodNumber(1, 0), 0, 0))),
        LAST_OF_ALL_SERVICES((connection, inside) ->
                connection.publish(SlotLayout.word(0, SlotLayout.methodNumber(SlotLayout.MAX_SERVICES - 1, 0), 0, 0))),
        SERVICE_BEYOND_THE_ONE_THAT_IT_HAS_BOUND((connection, inside) -> {
            bind(connection, "/test/echo");
            assertThat(connection.await()).isEqualTo(HostileConnection.End.ANSWERED);
            connection.publish(SlotLayout.word(0, SlotLayout.methodNumber(2, 0), 0, 0));
        }),
        BINDING_OF_NO_NAME(
                (connection, inside) -> connection.publish(SlotLayout.word(0, ControlOp.BIND, SlotLayout.CONTROL, 0))),
        BINDING_OF_A_NAME_BEYOND_ITS_REQUEST((connection, inside) -> {
            connection.payload(new byte[] {100, 'a', 'b', 'c'}, false);
            connection.publish(SlotLayout.word(0, ControlOp.BIND, SlotLayout.CONTROL, 4));
        }),
        BINDING_OF_A_HUGE_NAME((connection, inside) -> {
            connection.place(2_000, requestRef(connection, 8192));
            connection.publish(SlotLayout.word(0, ControlOp.BIND, SlotLayout.CONTROL | SlotLayout.OUTSIDE, 0));
        }),
        ELEMENTS_OF_NO_CALL((connection, inside) ->
                connection.publish(SlotLayout.word(0, ControlOp.STREAM_PUSH, SlotLayout.CONTROL, 4))),
        UNKNOWN_CONTROL_REQUEST(
                (connection, inside) -> connection.publish(SlotLayout.word(0, 77, SlotLayout.CONTROL, 8)));

        private final BiConsumer<HostileConnection, CountDownLatch> send;

        Breach(BiConsumer<HostileConnection, CountDownLatch> send) {
            this.send = send;
        }
    }

    /** Asks to bind the service of a channel; the connection's client has a call in flight then. */
    private static void bind(HostileConnection connection, String channel) {
        MemorySegment buffer = Arena.ofAuto().allocate(SlotLayout.REQUEST_INLINE_BYTES);
        PayloadWriter writer = PayloadWriter.create((old, used, needed) -> {
            throw new AssertionError("a longer name than fits into a slot");
        });
        writer.begin(buffer);
        writer.writeString(channel, "channel");
        byte[] bytes = buffer.asSlice(0, writer.length()).toArray(ValueLayout.JAVA_BYTE);
        connection.payload(bytes, false);
        connection.publish(SlotLayout.word(0, ControlOp.BIND, SlotLayout.CONTROL, bytes.length));
    }

    @Test
    void shouldServeTheServicesThatAClientHasBound() throws Exception {
        HostileConnection client = hostile();
        for (int i = 0; i < 2; i++) {
            bind(client, "/test/echo");
            assertThat(client.await()).isEqualTo(HostileConnection.End.ANSWERED);
            assertThat(client.codeOf(2 * i)).isEqualTo(Status.Code.OK);
            int number = SlotLayout.methodNumber(1, HostileConnection.method(Echo.class, "nothing"));
            client.publish(SlotLayout.word(0, number, 0, 0));
            assertThat(client.await()).isEqualTo(HostileConnection.End.ANSWERED);
            assertThat(client.codeOf(2 * i + 1)).isEqualTo(Status.Code.OK);
        }
        bind(client, "/no/such");
        assertThat(client.await()).isEqualTo(HostileConnection.End.ANSWERED);
        assertThat(client.codeOf(4)).isEqualTo(Status.Code.NOT_FOUND);
        assertThat(server.connections()).isEqualTo(1);
    }

    private static void callWith(HostileConnection connection, long length, long ref) {
        connection.place(length, ref);
        call(connection, SlotLayout.OUTSIDE, 0);
    }

    @ParameterizedTest
    @EnumSource
    void shouldEndTheConnectionOfAClientThatBreaksTheProtocol(Breach breach) throws Exception {
        Feed other = connect(Feed.class);
        HostileConnection hostile = hostile();
        breach.send.accept(hostile, inside);
        assertThat(hostile.await()).isEqualTo(HostileConnection.End.CLOSED);
        assertThat(other.add(1, 2)).isEqualTo(3);
        Await.equal("connections", 1, server::connections);
    }

    /** Otherwise one client could make each of its slots' calls decode the whole arena at once. */
    @Test
    void shouldBoundThePayloadsOfAllCallsUnderWay() throws Exception {
        HostileConnection hostile = hostile();
        sendWholeArena(hostile);
        Await.latch(inside);
        sendWholeArena(hostile);
        Await.until("the second call is answered", () -> SlotLayout.isOf(hostile.response(1), 1));
        assertThat(hostile.codeOf(1)).isEqualTo(Status.Code.RESOURCE_EXHAUSTED);
        end.countDown();
        assertThat(hostile.await()).isEqualTo(HostileConnection.End.ANSWERED);
        // There was room for these two, but the method takes no arguments.
        assertThat(hostile.codeOf(0)).isEqualTo(Status.Code.INVALID_ARGUMENT);
        sendWholeArena(hostile);
        assertThat(hostile.await()).isEqualTo(HostileConnection.End.ANSWERED);
        assertThat(hostile.codeOf(2)).isEqualTo(Status.Code.INVALID_ARGUMENT);
    }

    private static void sendWholeArena(HostileConnection hostile) {
        hostile.place(hostile.serverHello.request().bytes(), requestRef(hostile, 0));
        hostile.publish(SlotLayout.word(0, method("items"), SlotLayout.OUTSIDE, 0));
    }

    /**
     * A client whose slots are all taken cancels by the socket, which the server may read before the request. Nothing
     * would ever release the result of such a call.
     */
    @Test
    void shouldCancelACallWhoseCancellationHasOvertakenIt() throws Exception {
        boolean overtaken = false;
        for (int tries = 0; tries < MOST_TRIES && !overtaken; tries++) {
            overtaken = isOvertakenByItsCancellation();
        }
        assertThat(overtaken).as("two cancelled calls").isTrue();
    }

    /** Returns false if the server has taken one of the requests before it has read the socket. */
    private boolean isOvertakenByItsCancellation() throws Exception {
        try (HostileConnection client = HostileConnection.open(directory, "/test/feed", new HashMap<>())) {
            Await.until("the server sleeps", () -> !ControlLayout.isWatched(client.memory));
            // A server that was woken watches, and reads the socket soon.
            Await.until("the server watches", () -> {
                client.socket.ring(0);
                client.socket.ring(1);
                return ControlLayout.isWatched(client.memory);
            });
            boolean overtaken = true;
            for (int ticket = 0; ticket < 3; ticket++) {
                client.payload(new byte[2 * Long.BYTES], false);
                call(client, 0, 2 * Long.BYTES);
                assertThat(client.await()).isEqualTo(HostileConnection.End.ANSWERED);
                boolean isCancelled = client.codeOf(ticket) == Status.Code.CANCELLED;
                if (!isCancelled) {
                    assertThat(client.codeOf(ticket)).isEqualTo(Status.Code.OK);
                }
                if (ticket < 2) {
                    overtaken &= isCancelled;
                } else {
                    assertThat(isCancelled)
                            .as("the call that was not cancelled")
                            .isFalse();
                }
            }
            return overtaken;
        }
    }

    @Test
    void shouldOnlyRefuseAMethodThatIsNotThere() throws Exception {
        HostileConnection hostile = hostile();
        hostile.publish(SlotLayout.word(0, 711, 0, 0));
        assertThat(hostile.await()).isEqualTo(HostileConnection.End.ANSWERED);
        assertThat(hostile.codeOf(0)).isEqualTo(Status.Code.UNIMPLEMENTED);
        assertThat(server.connections()).isEqualTo(1);
    }
}
