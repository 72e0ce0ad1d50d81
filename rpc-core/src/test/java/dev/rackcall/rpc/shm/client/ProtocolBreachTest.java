package dev.rackcall.rpc.shm.client;

import static org.assertj.core.api.Assertions.assertThat;

import dev.rackcall.rpc.CallObserver;
import dev.rackcall.rpc.Dispatch;
import dev.rackcall.rpc.RpcChannel;
import dev.rackcall.rpc.RpcServer;
import dev.rackcall.rpc.Status;
import dev.rackcall.rpc.call.Feed;
import dev.rackcall.rpc.shm.protocol.ControlLayout;
import dev.rackcall.rpc.shm.protocol.ControlOp;
import dev.rackcall.rpc.shm.protocol.SlotLayout;
import dev.rackcall.rpc.spi.ServiceDefinition;
import dev.rackcall.shm.Ref;
import dev.rackcall.testkit.Await;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Each thing that only a broken or hostile client sends ends its connection, and no other; {@link HostilePeerTest}
 * tries them at random.
 */
@Timeout(60)
class ProtocolBreachTest {
    @TempDir
    Path directory;

    private final CountDownLatch inside = new CountDownLatch(1);
    private final CountDownLatch end = new CountDownLatch(1);
    private RpcServer server;

    @BeforeEach
    void start() {
        server = RpcServer.builder()
                .service(Feed.class, new Feed() {
                    @Override
                    public Stream<Item> items() {
                        return Stream.empty();
                    }

                    @Override
                    public long add(long first, long second) {
                        return first + second;
                    }
                })
                .interceptor(call -> {
                    if (call.method().name().equals("items")) {
                        inside.countDown();
                        awaitEnd();
                    }
                    return CallObserver.NONE;
                })
                .dispatch(Dispatch.workers(2))
                .directory(directory)
                .start();
    }

    private void awaitEnd() {
        try {
            assertThat(end.await(50, TimeUnit.SECONDS)).isTrue();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    @AfterEach
    void stop() {
        end.countDown();
        server.close();
    }

    private static int method(String name) {
        return ServiceDefinition.of(Feed.class).methods().stream()
                .filter(method -> method.name().equals(name))
                .findFirst()
                .orElseThrow()
                .index();
    }

    private static void call(HostileConnection connection, int flags, int inlineBytes) {
        connection.publish(SlotLayout.word(0, method("add"), flags, inlineBytes));
    }

    private static long requestRef(HostileConnection connection, long offset) {
        return Ref.of(connection.serverHello.request().id(), 0, offset);
    }

    /** What is wrong with a request. */
    enum Breach {
        INLINE_LENGTH_BEYOND_THE_SLOT {
            @Override
            void send(HostileConnection connection, CountDownLatch inside) {
                call(connection, 0, SlotLayout.REQUEST_INLINE_BYTES + 1);
            }
        },
        PAYLOAD_IN_ANOTHER_ARENA {
            @Override
            void send(HostileConnection connection, CountDownLatch inside) {
                connection.place(16, Ref.of(connection.serverHello.reply().id(), 0, 8192));
                call(connection, SlotLayout.OUTSIDE, 0);
            }
        },
        PAYLOAD_BEYOND_ITS_ARENA {
            @Override
            void send(HostileConnection connection, CountDownLatch inside) {
                connection.place(
                        16,
                        requestRef(connection, connection.serverHello.request().bytes() - 8));
                call(connection, SlotLayout.OUTSIDE, 0);
            }
        },
        PAYLOAD_LONGER_THAN_ITS_ARENA {
            @Override
            void send(HostileConnection connection, CountDownLatch inside) {
                connection.place(Long.MAX_VALUE, requestRef(connection, 8192));
                call(connection, SlotLayout.OUTSIDE, 0);
            }
        },
        PAYLOAD_OF_NEGATIVE_LENGTH {
            @Override
            void send(HostileConnection connection, CountDownLatch inside) {
                connection.place(-1, requestRef(connection, 8192));
                call(connection, SlotLayout.OUTSIDE, 0);
            }
        },
        SLOT_OF_A_CALL_UNDER_WAY {
            @Override
            void send(HostileConnection connection, CountDownLatch inside) throws InterruptedException {
                connection.publish(SlotLayout.word(0, method("items"), 0, 0));
                assertThat(inside.await(20, TimeUnit.SECONDS)).isTrue();
                for (int i = 1; i < HostileConnection.SLOTS; i++) {
                    connection.publish(SlotLayout.word(0, 0, SlotLayout.SKIP, 0));
                }
                call(connection, 0, 16);
            }
        },
        CONTROL_REQUEST_OF_WRONG_LENGTH {
            @Override
            void send(HostileConnection connection, CountDownLatch inside) {
                connection.publish(SlotLayout.word(0, ControlOp.CANCEL, SlotLayout.CONTROL, 4));
            }
        },
        UNKNOWN_CONTROL_REQUEST {
            @Override
            void send(HostileConnection connection, CountDownLatch inside) {
                connection.publish(SlotLayout.word(0, 77, SlotLayout.CONTROL, 8));
            }
        };

        abstract void send(HostileConnection connection, CountDownLatch inside) throws InterruptedException;
    }

    @ParameterizedTest
    @EnumSource
    void shouldEndTheConnectionOfWhoeverBreaksTheProtocol(Breach breach) throws Exception {
        try (RpcChannel other =
                        RpcChannel.builder("/test/feed").directory(directory).open();
                HostileConnection hostile = HostileConnection.open(directory, "/test/feed", new HashMap<>())) {
            breach.send(hostile, inside);
            assertThat(hostile.await()).isEqualTo(HostileConnection.End.CLOSED);
            assertThat(other.stub(Feed.class).add(1, 2)).isEqualTo(3);
            Await.equal("connections", 1, server::connections);
        }
    }

    /** Otherwise one client could make each of its slots' calls decode the whole arena at once. */
    @Test
    void shouldBoundThePayloadsOfAllCallsUnderWay() throws Exception {
        try (HostileConnection hostile = HostileConnection.open(directory, "/test/feed", new HashMap<>())) {
            sendWholeArena(hostile);
            assertThat(inside.await(20, TimeUnit.SECONDS)).isTrue();
            sendWholeArena(hostile);
            Await.until("the second call is answered", () -> SlotLayout.isOf(response(hostile, 1), 1));
            assertThat(codeOf(response(hostile, 1))).isEqualTo(Status.Code.RESOURCE_EXHAUSTED);
            end.countDown();
            assertThat(hostile.await()).isEqualTo(HostileConnection.End.ANSWERED);
            // There was room for these two, but the method takes no arguments.
            assertThat(codeOf(response(hostile, 0))).isEqualTo(Status.Code.INVALID_ARGUMENT);
            sendWholeArena(hostile);
            assertThat(hostile.await()).isEqualTo(HostileConnection.End.ANSWERED);
            assertThat(codeOf(response(hostile, 2))).isEqualTo(Status.Code.INVALID_ARGUMENT);
        }
    }

    private static void sendWholeArena(HostileConnection hostile) {
        hostile.place(hostile.serverHello.request().bytes(), requestRef(hostile, 0));
        hostile.publish(SlotLayout.word(0, method("items"), SlotLayout.OUTSIDE, 0));
    }

    private static long response(HostileConnection hostile, int slot) {
        return SlotLayout.responseWord(hostile.memory, ControlLayout.slot(slot));
    }

    private static Status.Code codeOf(long response) {
        return Status.Code.ofNumber(SlotLayout.methodOrStatus(response));
    }

    /**
     * As when a client has all its slots taken: it tells by the socket, which the server may read first. What such a
     * call returns nobody would ever give back.
     */
    @Test
    void shouldCancelACallWhoseCancellationHasOvertakenIt() throws Exception {
        try (HostileConnection client = HostileConnection.open(directory, "/test/feed", new HashMap<>())) {
            Await.until("the server sleeps", () -> !ControlLayout.isWatched(client.memory));
            // Who watches has read the socket before.
            Await.until("the server reads the socket", () -> {
                client.socket.ring(0);
                client.socket.ring(1);
                return ControlLayout.isWatched(client.memory);
            });
            for (int ticket = 0; ticket < 3; ticket++) {
                client.payload(new byte[2 * Long.BYTES], false);
                call(client, 0, 2 * Long.BYTES);
                assertThat(client.await()).isEqualTo(HostileConnection.End.ANSWERED);
                assertThat(codeOf(response(client, ticket)))
                        .isEqualTo(ticket < 2 ? Status.Code.CANCELLED : Status.Code.OK);
            }
        }
    }

    @Test
    void shouldOnlyRefuseAMethodThatIsNotThere() throws Exception {
        try (HostileConnection hostile = HostileConnection.open(directory, "/test/feed", new HashMap<>())) {
            hostile.publish(SlotLayout.word(0, 4711, 0, 0));
            assertThat(hostile.await()).isEqualTo(HostileConnection.End.ANSWERED);
            assertThat(codeOf(response(hostile, 0))).isEqualTo(Status.Code.UNIMPLEMENTED);
            assertThat(server.connections()).isEqualTo(1);
        }
    }
}
