package dev.rackcall.rpc.isolation;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assumptions.assumeThat;

import dev.rackcall.rpc.Isolation;
import dev.rackcall.rpc.RpcChannel;
import dev.rackcall.rpc.RpcServer;
import dev.rackcall.rpc.SandboxPolicy;
import dev.rackcall.rpc.Status;
import dev.rackcall.rpc.contract.Ledger;
import dev.rackcall.rpc.contract.LedgerService;
import dev.rackcall.rpc.isolation.Vault.Coin;
import dev.rackcall.sandbox.SealHolder;
import dev.rackcall.sandbox.os.Userfault;
import dev.rackcall.shm.pool.PoolOptions.Wish;
import dev.rackcall.testkit.Await;
import dev.rackcall.testkit.ChildJvm;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Seals that callers cannot lift: the holder and each hostile caller run in processes of their own, because a caller is
 * restricted for good.
 */
@Timeout(180)
class EnforcedCallTest extends VaultFixture {
    private static final List<String> ATTACKS =
            List.of(("mprotect munmap mremap remap map map_reopened pwrite proc_self_mem "
                            + "read_into hole truncate userfaultfd io_uring remove dofork")
                    .split(" "));

    private final Service service = new Service();
    private Path socket;

    private static final class Service extends ReadingVault {
        private final CountDownLatch read = new CountDownLatch(1);
        private final CountDownLatch goOn = new CountDownLatch(1);

        @Override
        public CompletableFuture<List<Long>> valueTwiceLater(Coin argument) {
            long before = argument.value();
            CompletableFuture<List<Long>> values = new CompletableFuture<>();
            Thread.ofPlatform().daemon().start(() -> {
                read.countDown();
                Await.latch(goOn);
                values.complete(List.of(before, argument.value()));
            });
            return values;
        }
    }

    @BeforeEach
    void start() {
        requireSeals();
        socket = directory.resolve("holder");
    }

    @AfterEach
    void goOn() {
        service.goOn.countDown();
    }

    private RpcServer serve(SandboxPolicy policy) {
        // Handlers then read in place only because a holder has the seal.
        return serve(serving(SealedVault.class, service)
                .minimumIsolation(Isolation.AUTO)
                .sandbox(policy));
    }

    private RpcChannel.Builder channel(Wish wish) {
        return channel(SealedVault.class).enforcedSeals(socket, wish);
    }

    private ChildJvm child(Class<?> main, Object... arguments) {
        return keep(ChildJvm.start(main, directory, arguments));
    }

    /** Opening such a channel fails with FAILED_PRECONDITION and this message. */
    private void assertRequirementFails(String message) {
        assertFails(Status.Code.FAILED_PRECONDITION, channel(Wish.REQUIRE)::open)
                .hasMessageContaining(message);
    }

    private void assertValueArrives(RpcChannel channel) {
        assertThat(channel.stub(SealedVault.class).value(coin(channel.newScope(), 7)))
                .isEqualTo(7);
        channel.close();
    }

    private ChildJvm startHolder() {
        String[] kernel = System.getProperty("os.version").split("[.-]");
        int version = Integer.parseInt(kernel[0]) * 1000 + Integer.parseInt(kernel[1]);
        if (version < 6010) {
            System.err.println("SKIPPED EnforcedCallTest: Linux " + version + " has no mseal");
        }
        assumeThat(version).isGreaterThanOrEqualTo(6010);
        ChildJvm holder = child(SealHolder.class, socket);
        Await.until("the holder serves", () -> Files.exists(socket));
        return holder;
    }

    @Test
    void shouldKeepAnArgumentThatItsCallerTriesToChange() throws Exception {
        ChildJvm holder = startHolder();
        RpcServer server = serve(SandboxPolicy.STRICT.withEnforcedSeals(socket, Wish.REQUIRE));
        ChildJvm caller = child(EnforcedCaller.class, socket);
        Await.latch(service.read);
        caller.send("attack");
        for (String attack : ATTACKS) {
            assertThat(caller.awaitLine("attack ")).as("refused").matches("attack " + attack + " -\\d+");
        }
        assertThat(caller.awaitLine("store ")).isEqualTo("store true");
        caller.awaitLine("attacked");
        service.goOn.countDown();
        caller.send("enough");
        assertThat(caller.awaitLine("values ")).isEqualTo("values [5, 5]");
        assertThat(caller.awaitLine("after ")).isEqualTo("after 77");
        caller.awaitLine("done");
        assertThat(holder.isAlive()).isTrue();
        assertThat(server.connections()).isBetween(0, 2);
    }

    /** As the contract says for every mode: refused, or seen by the caller. */
    @Test
    void shouldKeepTheMeaningOfAStore() throws Exception {
        startHolder();
        serve(serving(Ledger.class, new LedgerService())
                .minimumIsolation(Isolation.AUTO)
                .sandbox(SandboxPolicy.STRICT.withEnforcedSeals(socket, Wish.REQUIRE)));
        ChildJvm caller = child(EnforcedLedgerCaller.class, socket);
        for (Isolation isolation : List.of(Isolation.SEALED, Isolation.AUTO, Isolation.SNAPSHOT)) {
            assertThat(caller.awaitLine(isolation + " ")).isEqualTo(isolation + " INTERNAL 1 101 101 101");
        }
        caller.awaitLine("done");
    }

    @Test
    void shouldFailACallWhoseHolderEndsMeanwhile() throws Exception {
        ChildJvm holder = startHolder();
        RpcServer server = serve(SandboxPolicy.STRICT.withEnforcedSeals(socket, Wish.PREFER));
        ChildJvm caller = child(EnforcedCaller.class, socket);
        Await.latch(service.read);
        holder.kill();
        service.goOn.countDown();
        caller.send("enough");
        assertThat(caller.awaitLine("values "))
                .startsWith("values " + Status.Code.ABORTED)
                .contains("the holder of its arguments' seal has ended");
        assertThat(caller.awaitLine("after ")).isEqualTo("after 77");
        assertThat(server.connections()).isNotNegative();
    }

    /** The server trusts another holder, which does not know the caller's session. */
    @Test
    void shouldNotRestrictAClientWhoseServerNamesAnotherHolder() throws Exception {
        Path trusted = directory.resolve("trusted");
        ChildJvm holder = startHolder();
        SealHolder another = keep(SealHolder.start(trusted));
        RpcServer server = serve(SandboxPolicy.STRICT.withEnforcedSeals(trusted, Wish.PREFER));
        ChildJvm caller = child(RefusedCaller.class, socket);
        assertThat(caller.awaitLine("seccomp ")).isEqualTo("seccomp 0");
        assertThat(caller.awaitLine("value ")).isEqualTo("value 7");
        assertThat(caller.awaitLine("seals ")).as("its own").isEqualTo("seals 1");
        assertThat(holder.isAlive()).isTrue();
        assertThat(another).isNotNull();
        Await.equal("connections", 0, server::connections);
    }

    /** The caller is the holder itself and keeps the userfaultfd that it was given. */
    @Test
    void shouldNotRestrictAProcessThatItsHolderRefuses() {
        SealHolder holder = keep(SealHolder.start(socket));
        RpcServer server = serve(SandboxPolicy.STRICT.withEnforcedSeals(socket, Wish.PREFER));
        assertThatThrownBy(channel(Wish.REQUIRE)::open).hasMessageContaining("still has a userfaultfd");
        assertThat(holder).isNotNull();
        try (Userfault own = Userfault.open()) {
            assertThat(own.fd()).as("none is forbidden").isPositive();
            assertValueArrives(open(channel(Wish.PREFER)));
        }
        Await.equal("connections", 0, server::connections);
    }

    @Test
    void shouldSendASnapshotWhereUserfaultfdIsForbidden() throws Exception {
        RpcServer server = serve(SandboxPolicy.STRICT);
        ChildJvm caller = child(ForbiddenCaller.class);
        Await.latch(service.read);
        assertThat(server.connections()).isEqualTo(1);
        caller.send("change");
        caller.awaitLine("changed to 6");
        service.goOn.countDown();
        assertThat(caller.awaitLine("values ")).isEqualTo("values [5, 5]");
    }

    @Test
    void shouldRefuseSealsThatTheCallerHoldsItself() {
        RpcServer server = serve(SandboxPolicy.STRICT.withEnforcedSeals(socket, Wish.REQUIRE));
        RpcChannel channel = open(SealedVault.class);
        Coin coin = coin(channel.newScope(), 7);
        assertThat(server.connections()).isEqualTo(1);
        for (Isolation tooLittle : List.of(Isolation.SEALED, Isolation.TRUSTED)) {
            SealedVault vault = sealed(channel, tooLittle);
            assertFails(Status.Code.FAILED_PRECONDITION, () -> vault.value(coin))
                    .hasMessageContaining("demanded");
        }
        assertThat(sealed(channel, Isolation.SNAPSHOT).value(coin)).isEqualTo(7);
    }

    @Test
    void shouldNotOpenAChannelWithoutAHolderOfItsSeals() {
        RpcServer server = serve(SandboxPolicy.STRICT);
        assertRequirementFails("does not trust that holder");
        assertValueArrives(open(channel(Wish.PREFER)));
        Await.equal("connections", 0, server::connections);
    }

    /** The process could no longer lift these seals once others are enforced. */
    @Test
    void shouldNotEnforceTheSealsOfAProcessThatHoldsSomeItself() {
        SealHolder holder = keep(SealHolder.start(socket));
        RpcServer server = serve(SandboxPolicy.STRICT.withEnforcedSeals(socket, Wish.PREFER));
        Userfault own = keep(Userfault.open());
        assertRequirementFails("this process holds seals itself");
        assertThat(own.fd()).isPositive();
        assertThat(holder).isNotNull();
        Await.equal("connections", 0, server::connections);
    }

    @Test
    void shouldSayThatNoHolderServes() {
        RpcServer server = serve(SandboxPolicy.STRICT.withEnforcedSeals(socket, Wish.PREFER));
        assertRequirementFails("no holder of seals at " + socket);
        Await.equal("connections", 0, server::connections);
    }
}
