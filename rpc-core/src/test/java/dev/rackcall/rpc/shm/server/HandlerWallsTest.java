package dev.rackcall.rpc.shm.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.rackcall.rpc.Dispatch;
import dev.rackcall.rpc.Peer;
import dev.rackcall.rpc.contract.Echo;
import dev.rackcall.rpc.shm.protocol.ControlLayout;
import dev.rackcall.rpc.shm.protocol.Handshake;
import dev.rackcall.rpc.shm.protocol.SlotLayout;
import dev.rackcall.rpc.spi.Dispatcher;
import dev.rackcall.rpc.spi.ServerSpec;
import dev.rackcall.rpc.spi.ServiceDefinition;
import dev.rackcall.rpc.spi.TestSpecs;
import dev.rackcall.sandbox.ProtectionKeys;
import dev.rackcall.sandbox.os.MemoryKeys;
import dev.rackcall.shm.os.socket.UnixSocket;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/**
 * Which connection's memory handlers can reach, with keys that are only counted. What the processor does about it:
 * {@code ProtectedCallTest}.
 */
class HandlerWallsTest {
    private static final int CLIENTS = 20;
    private static final int KEYS = 5;

    private final FakeKeys fake = new FakeKeys();
    private final ProtectionKeys keys = ProtectionKeys.open(fake);
    private final Deque<AutoCloseable> open = new ArrayDeque<>();
    private final List<ShmServerConnection> clients = new ArrayList<>();
    private final List<Long> reached = new ArrayList<>();
    private ShmServerCall calling;

    /** Which pages have which key, and what a thread's register says. */
    private static final class FakeKeys implements MemoryKeys {
        private final Map<Long, Integer> ofAddress = new HashMap<>();
        private int next = 1;
        private int register;

        @Override
        public int allocate() {
            return next <= KEYS ? next++ : -1;
        }

        @Override
        public void free(int key) {
            assertThat(ofAddress.values()).doesNotContain(key);
        }

        @Override
        public void assign(long address, long bytes, int key) {
            ofAddress.put(address, key);
        }

        @Override
        public void use(int bits) {
            assertThat(bits).isNotZero();
        }

        @Override
        public int enter(int closed) {
            int before = register;
            register = closed;
            return before;
        }

        @Override
        public void leave(int before) {
            register = before;
        }

        boolean canReach(long address) {
            return (register & MemoryKeys.disabled(ofAddress.getOrDefault(address, 0))) == 0;
        }
    }

    private static long addressOf(ShmServerConnection client) {
        return client.memory.address();
    }

    private void look() {
        reached.clear();
        clients.stream().map(HandlerWallsTest::addressOf).filter(fake::canReach).forEach(reached::add);
    }

    /** Connects this many clients to a service of that dispatcher. */
    private void connect(int count, Dispatcher dispatcher) {
        ServerSpec.Service<Echo> service = new ServerSpec.Service<>(ServiceDefinition.of(Echo.class), dispatcher);
        ServerSpec spec = TestSpecs.server(
                service, TestSpecs.threads(Dispatch.direct(), 1, Duration.ofSeconds(1)), count, Path.of("unused"));
        ConnectionFactory factory = new ConnectionFactory(
                spec,
                service,
                Handlers.of(spec.threads().dispatch(), spec.threads().waiting()),
                1 << 20,
                id -> new SharedPool("/test/walls", id, 1 << 20),
                HandlerWalls.with(keys));
        open.push(factory);
        for (int i = 0; i < count; i++) {
            UnixSocket.Pair sockets = UnixSocket.pair();
            ConnectionFactory.Offer offer = factory.prepare(
                    sockets.left(),
                    new Handshake.ClientHello(ControlLayout.VERSION, factory.channel(), 2, 1 << 20),
                    new Peer(0, 0, 0),
                    _ -> Optional.empty(),
                    new ConnectionCount());
            offer.close();
            clients.add(offer.connection());
            open.push(sockets.right());
            open.push(offer.connection()::close);
        }
    }

    @AfterEach
    void close() throws Exception {
        while (!open.isEmpty()) {
            open.pop().close();
        }
        assertThat(fake.ofAddress.values())
                .as("keys of memory that was unmapped")
                .containsOnly(0);
        keys.close();
    }

    private static void call(ShmServerConnection client) throws ProtocolBreachException {
        ShmServerCall call = new ShmServerCall(client, 0);
        call.begin(0, SlotLayout.word(0, 0, 0, 0));
        call.run();
    }

    @Test
    void shouldOpenToAHandlerItsCallersMemoryOnly() throws ProtocolBreachException {
        connect(CLIENTS, (method, call) -> look());
        for (int round = 0; round < 3; round++) {
            for (ShmServerConnection client : clients) {
                call(client);
                assertThat(reached).containsExactly(addressOf(client));
                look();
                assertThat(reached).as("outside of handlers").hasSize(CLIENTS);
            }
        }
    }

    @Test
    void shouldLeaveTheSandboxOfAHandlerThatThrows() throws ProtocolBreachException {
        connect(2, (method, call) -> {
            look();
            throw new IllegalStateException("expected in this test");
        });
        call(clients.getFirst());
        assertThat(reached).hasSize(1);
        look();
        assertThat(reached).hasSize(2);
    }

    @Test
    void shouldLetAHandlerCompleteAnotherClientsCall() throws ProtocolBreachException {
        CompletableFuture<Long> ofFirst = new CompletableFuture<>();
        connect(2, (method, call) -> {
            if (call.equals(calling)) {
                call.completeWith(ofFirst, (out, itsCall, value) -> look());
            } else {
                ofFirst.complete(5L);
                assertThat(fake.canReach(addressOf(clients.getFirst())))
                        .as("after it has completed the other call")
                        .isFalse();
            }
        });
        ShmServerCall first = new ShmServerCall(clients.getFirst(), 0);
        calling = first;
        first.begin(0, SlotLayout.word(0, 0, 0, 0));
        first.run();
        call(clients.getLast());
        assertThat(reached).contains(addressOf(clients.getFirst()));
    }
}
