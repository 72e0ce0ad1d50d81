package dev.rackcall.rpc.isolation;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import dev.rackcall.rpc.Dispatch;
import dev.rackcall.rpc.Isolation;
import dev.rackcall.rpc.RpcChannel;
import dev.rackcall.rpc.RpcServer;
import dev.rackcall.rpc.SandboxPolicy;
import dev.rackcall.rpc.Status;
import dev.rackcall.rpc.contract.Echo;
import dev.rackcall.rpc.contract.EchoService;
import dev.rackcall.rpc.isolation.Vault.Coin;
import dev.rackcall.sandbox.IsolationEvents;
import dev.rackcall.sandbox.os.Guard;
import dev.rackcall.sandbox.os.HardwareKeys;
import dev.rackcall.sandbox.os.UnsupportedFeatureException;
import dev.rackcall.shm.Ref;
import dev.rackcall.shm.pool.PoolOptions.Wish;
import dev.rackcall.shm.types.SharedObject;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Handlers behind hardware protection keys that access another client's memory directly, past the checks of Refs. */
@Timeout(300)
class ProtectedCallTest extends VaultFixture {
    private static final int CLIENTS = 32;
    /** Evaluated once, before a server of this process takes all keys. */
    private static final String LACK = lack();

    /** Stores the address of each client's argument, and reads or writes it during calls of other clients. */
    private static final class Spy extends ReadingVault {
        private final Map<Long, MemorySegment> seen = new ConcurrentHashMap<>();
        private volatile long victim;

        /** Notes the argument under the number that it holds. */
        @Override
        public long value(Coin argument) {
            long ref = SharedObject.refOf(argument);
            MemorySegment memory = SharedObject.spaceOf(argument).memory(ref);
            // A segment of its own, since that of an argument is read-only: only the key is to stop this handler.
            MemorySegment page = MemorySegment.ofAddress(memory.address() + (Ref.offset(ref) & -4096L));
            seen.put(argument.value(), page.reinterpret(4096));
            return argument.value();
        }

        /** Reads the victim's page. */
        @Override
        public List<Long> valueTwice(Coin argument) {
            return List.of(argument.value(), seen.get(victim).get(ValueLayout.JAVA_LONG, 0));
        }

        /** Overwrites the victim's page. */
        @Override
        public long fail(Coin argument) {
            seen.get(victim).fill((byte) 0x55);
            return argument.value();
        }
    }

    private record Client(SealedVault vault, Coin coin) {}

    private static void requireKeys() {
        if (!LACK.isEmpty()) {
            System.err.println("SKIPPED ProtectedCallTest: " + LACK);
        }
        assumeThat(LACK).as("protection keys").isEmpty();
    }

    private static String lack() {
        try {
            HardwareKeys.requireProcessor();
            Guard.tryBuild();
            return "";
        } catch (UnsupportedFeatureException e) {
            return e.getMessage();
        }
    }

    private Client client(long number) {
        RpcChannel channel = open(SealedVault.class);
        return new Client(sealed(channel, Isolation.SEALED), coin(channel.newScope(), number));
    }

    @Test
    void shouldKeepHandlersOutOfOtherClientsMemory() {
        requireKeys();
        Spy spy = new Spy();
        List<Client> clients = new ArrayList<>();
        RpcServer server =
                serve(serving(SealedVault.class, spy).sandbox(SandboxPolicy.STRICT.withProtectionKeys(Wish.REQUIRE)));
        for (long i = 0; i < CLIENTS; i++) {
            clients.add(client(i));
            assertThat(clients.getLast().vault.value(clients.getLast().coin)).isEqualTo(i);
        }
        long violations = IsolationEvents.counters().violations();
        for (int i = 0; i < CLIENTS; i++) {
            Client own = clients.get(i);
            spy.victim = i;
            assertThat(own.vault.valueTwice(own.coin).getFirst()).isEqualTo(i);

            spy.victim = (i + 1L) % CLIENTS;
            isRefused(() -> own.vault.valueTwice(own.coin));
            isRefused(() -> own.vault.fail(own.coin));
            Client other = clients.get((i + 1) % CLIENTS);
            assertThat(other.coin.value()).isEqualTo((i + 1L) % CLIENTS);
            assertThat(other.vault.value(other.coin)).isEqualTo((i + 1L) % CLIENTS);
        }
        assertThat(IsolationEvents.counters().violations() - violations).isGreaterThanOrEqualTo(2 * CLIENTS);
        assertThat(server.connections()).isEqualTo(CLIENTS);
    }

    private static void isRefused(Runnable call) {
        assertFails(Status.Code.PERMISSION_DENIED, call::run).hasMessageContaining("protection key");
    }

    @Test
    void shouldRefuseToStartWithoutTheKeysThatAreRequired() {
        assertFails(Status.Code.FAILED_PRECONDITION, () -> start(Wish.REQUIRE, Dispatch.virtualThreads()))
                .hasMessageContainingAll("protection keys", "virtual thread");
        start(Wish.PREFER, Dispatch.virtualThreads()).close();
        assumeThat(LACK).as("a host that lacks what keys need").isNotEmpty();
        assertFails(Status.Code.FAILED_PRECONDITION, () -> start(Wish.REQUIRE, Dispatch.direct()))
                .hasMessageContaining(LACK);
        start(Wish.PREFER, Dispatch.direct()).close();
    }

    private RpcServer start(Wish wish, Dispatch dispatch) {
        return serving(Echo.class, new EchoService())
                .dispatch(dispatch)
                .sandbox(SandboxPolicy.STRICT.withProtectionKeys(wish))
                .start();
    }
}
