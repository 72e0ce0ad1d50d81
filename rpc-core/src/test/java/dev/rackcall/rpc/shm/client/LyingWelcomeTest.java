package dev.rackcall.rpc.shm.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.rackcall.rpc.RpcChannel;
import dev.rackcall.rpc.RpcException;
import dev.rackcall.rpc.Status;
import dev.rackcall.rpc.contract.Echo;
import dev.rackcall.rpc.contract.RpcFixture;
import dev.rackcall.rpc.shm.protocol.ControlLayout;
import dev.rackcall.rpc.shm.protocol.Handshake;
import dev.rackcall.rpc.shm.protocol.Handshake.ArenaPlace;
import dev.rackcall.rpc.shm.protocol.Handshake.ServerHello;
import dev.rackcall.rpc.spi.ServiceDefinition;
import dev.rackcall.shm.os.file.SharedFile;
import dev.rackcall.testkit.Await;
import dev.rackcall.testkit.Usage;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** A server that lies when a client connects: the client says what is wrong, and keeps nothing of what it was sent. */
class LyingWelcomeTest extends RpcFixture {
    private static final long CONTROL = ControlLayout.controlBytes(LyingServer.SLOTS);
    private static final long END = CONTROL + 2 * LyingServer.QUOTA;
    /** The lie that a client meets for as long as it waits. */
    private static final String SILENCE = "silence";

    private LyingServer server;

    @BeforeEach
    void start() throws IOException {
        server = keep(new LyingServer(directory, ServiceDefinition.of(Echo.class)));
    }

    private RpcChannel open() {
        return open(Duration.ofSeconds(10));
    }

    private RpcChannel open(Duration timeout) {
        return channel(Echo.class)
                .slots(LyingServer.SLOTS)
                .arenaQuota(LyingServer.QUOTA)
                .connectTimeout(timeout)
                .open();
    }

    private static Arguments lie(String name, LyingServer.Lie lie) {
        return Arguments.of(name, lie);
    }

    private static Arguments serverHello(String name, UnaryOperator<ServerHello> lie) {
        return lie(name, (offer, socket) -> offer.serverHello = lie.apply(offer.serverHello));
    }

    private static Arguments encoded(String name, Consumer<byte[]> change) {
        return lie(name, (offer, socket) -> {
            offer.message = offer.serverHello.encode();
            change.accept(offer.message);
        });
    }

    private static ServerHello numbers(ServerHello w, int slots, int participant) {
        return new ServerHello(w.status(), w.instance(), slots, participant, w.arenas(), w.service());
    }

    private static ServerHello places(ServerHello w, ArenaPlace request, ArenaPlace reply, ArenaPlace shared) {
        return new ServerHello(
                w.status(),
                w.instance(),
                w.slots(),
                w.participant(),
                new Handshake.Arenas(request, reply, shared),
                w.service());
    }

    private static Arguments request(String name, int id, long offset, long bytes) {
        return serverHello(name, w -> places(w, new ArenaPlace(id, offset, bytes), w.reply(), w.shared()));
    }

    private static Arguments reply(String name, int id, long offset, long bytes) {
        return serverHello(name, w -> places(w, w.request(), new ArenaPlace(id, offset, bytes), w.shared()));
    }

    private static Arguments shared(String name, int id, long offset, long bytes) {
        return serverHello(name, w -> places(w, w.request(), w.reply(), new ArenaPlace(id, offset, bytes)));
    }

    static Stream<Arguments> numbers() {
        return Stream.of(
                serverHello("2^30 slots", w -> numbers(w, 1 << 30, 2)),
                serverHello("more slots than asked for", w -> numbers(w, 128, 2)),
                serverHello("no slots", w -> numbers(w, 0, 2)),
                serverHello("negative slots", w -> numbers(w, Integer.MIN_VALUE, 2)),
                serverHello("three slots", w -> numbers(w, 3, 2)),
                serverHello("an unused participant number", w -> numbers(w, LyingServer.SLOTS, 0)),
                serverHello("the server's participant number", w -> numbers(w, LyingServer.SLOTS, 1)),
                serverHello("a participant number too high", w -> numbers(w, LyingServer.SLOTS, 4096)),
                serverHello("a negative participant number", w -> numbers(w, LyingServer.SLOTS, -1)));
    }

    static Stream<Arguments> places() {
        long quota = LyingServer.QUOTA;
        return Stream.of(
                request("arena number 0", 0, CONTROL, quota),
                request("arena number above 16 bits", 0x10000, CONTROL, quota),
                request("one number for two arenas", 12, CONTROL, quota),
                request("the shared arena's number", 13, CONTROL, quota),
                request("slots inside the arena", 11, 0, quota),
                request("a negative offset", 11, -4096, quota),
                request("an offset inside a page", 11, CONTROL + 8, quota),
                request("an arena beyond the file", 11, CONTROL, END),
                request("an arena of 1 TiB and more", 11, CONTROL, (1L << 40) + 4096),
                request("an arena of nearly 2^63 bytes", 11, CONTROL, Long.MAX_VALUE & -4096),
                request("an end that overflows", 11, Long.MAX_VALUE & -4096, Long.MAX_VALUE & -4096),
                request("no bytes", 11, CONTROL, 0),
                request("negative bytes", 11, CONTROL, -4096),
                reply("a reply arena over the request arena", 12, CONTROL, quota),
                reply("a reply arena that begins too early", 12, CONTROL + quota - 4096, quota),
                reply("a reply arena beyond the file", 12, END, 4096),
                shared("another size than the shared memory has", 13, 0, 4096),
                shared("a shared arena that is no whole file", 13, 4096, quota - 4096),
                shared("a shared arena beyond its file", 13, 0, 1L << 41),
                shared("no shared arena", 0, 0, 0));
    }

    static Stream<Arguments> memories() {
        return Stream.of(
                lie("no descriptors", (offer, socket) -> offer.fds = new int[0]),
                lie("one descriptor", (offer, socket) -> offer.fds = new int[] {offer.file.fd()}),
                lie(
                        "three descriptors",
                        (offer, socket) ->
                                offer.fds = new int[] {offer.file.fd(), offer.shared.fd(), offer.shared.fd()}),
                lie("16 descriptors", (offer, socket) -> {
                    offer.fds = new int[16];
                    Arrays.fill(offer.fds, offer.file.fd());
                }),
                lie(
                        "a socket instead of memory",
                        (offer, socket) -> offer.fds = new int[] {socket.fd(), offer.shared.fd()}),
                lie(
                        "a socket instead of shared memory",
                        (offer, socket) -> offer.fds = new int[] {offer.file.fd(), socket.fd()}),
                lie("two sockets", (offer, socket) -> offer.fds = new int[] {socket.fd(), socket.fd()}),
                lie("memory of one page", (offer, socket) -> {
                    offer.file.close();
                    offer.file = SharedFile.memfd("rackcall-liar-small", 4096);
                }),
                lie("memory with nothing in it", (offer, socket) -> {
                    offer.file.close();
                    offer.file = SharedFile.memfd("rackcall-liar-empty", END);
                }),
                lie("memory of another instance", (offer, socket) -> {
                    ServerHello w = offer.serverHello;
                    offer.serverHello = new ServerHello(
                            w.status(), w.instance() + 1, w.slots(), w.participant(), w.arenas(), w.service());
                }),
                lie("a file that may shrink", (offer, socket) -> {
                    Path path = Path.of(
                            "/dev/shm",
                            "rackcall-liar-" + ProcessHandle.current().pid());
                    offer.file.close();
                    offer.file = SharedFile.createFile(path, END);
                    java.nio.file.Files.delete(path);
                }),
                lie("shared memory of 2 TiB", (offer, socket) -> {
                    offer.shared.close();
                    offer.shared = SharedFile.memfd("rackcall-liar-huge", 1L << 41);
                    ServerHello w = offer.serverHello;
                    offer.serverHello = places(w, w.request(), w.reply(), new ArenaPlace(13, 0, 1L << 41));
                }));
    }

    static Stream<Arguments> messages() {
        return Stream.of(
                encoded("another protocol version", message -> message[11]++),
                encoded("another protocol", message -> message[0]++),
                encoded("a text that ends behind the message", message -> message[16] = 0x7f),
                encoded("a text of negative length", message -> message[16] = (byte) 0xff),
                lie("one byte", (offer, socket) -> offer.message = new byte[1]),
                lie("64 KiB of nothing", (offer, socket) -> offer.message = new byte[64 << 10]),
                lie(
                        "half a serverHello",
                        (offer, socket) -> offer.message = Arrays.copyOf(offer.serverHello.encode(), 60)),
                lie("a refusal with descriptors, of an unknown code", (offer, socket) -> {
                    offer.message = ServerHello.refusal(Status.Code.INTERNAL.with("100 %s of %n lies %d"))
                            .encode();
                    offer.message[15] = 99;
                }),
                lie("hanging up", (offer, socket) -> offer.message = new byte[0]),
                lie(SILENCE, (offer, socket) -> offer.silent = true));
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource({"numbers", "places", "memories", "messages"})
    void shouldRefuseAndKeepNothing(String name, LyingServer.Lie lie) {
        // The reactor, its epoll and its thread come with the first connection and stay.
        open().close();
        Await.equal("quiet before", Map.of(), () -> Usage.grownSince(Usage.now()));
        Map<String, Integer> before = Usage.now();
        server.lie(lie);
        Duration timeout = Duration.ofSeconds(name.equals(SILENCE) ? 2 : 10);
        RpcException refused = catchThrowableOfType(RpcException.class, () -> open(timeout));
        assertThat(refused).as(name).isNotNull();
        assertThat(refused.code())
                .as(refused.getMessage())
                .isIn(Status.Code.FAILED_PRECONDITION, Status.Code.UNAVAILABLE, Status.Code.UNKNOWN);
        server.lie((offer, socket) -> {});
        Await.equal("left behind by " + refused.getMessage(), Map.of(), () -> Usage.grownSince(before));
        // Closing a descriptor twice would close the one that got its number in the meantime: this connection's.
        open().close();
        assertThat(server.failure()).isEmpty();
    }

    @Test
    void shouldConnectToTheSameServerWhenItDoesNotLie() {
        assertThat(keep(open()).stub(Echo.class)).isNotNull();
        assertThat(server.failure()).isEmpty();
    }

    @Test
    void shouldRefuseWelcomesThatEndAnywhere() {
        byte[][] whole = new byte[1][];
        server.lie((offer, socket) -> whole[0] = offer.serverHello.encode());
        open().close();
        Map<String, Integer> before = Usage.now();
        for (int length = 1; length < whole[0].length; length += length < 140 ? 1 : 97) {
            int end = length;
            server.lie((offer, socket) -> offer.message = Arrays.copyOf(offer.serverHello.encode(), end));
            assertFails(Status.Code.FAILED_PRECONDITION, this::open);
        }
        Await.equal("left behind", Map.of(), () -> Usage.grownSince(before));
        assertThat(server.failure()).isEmpty();
    }
}
