package dev.rackcall.rpc.isolation;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assumptions.assumeThat;

import dev.rackcall.rpc.CallOptions;
import dev.rackcall.rpc.Isolation;
import dev.rackcall.rpc.RpcChannel;
import dev.rackcall.rpc.RpcException;
import dev.rackcall.rpc.RpcServer;
import dev.rackcall.rpc.SandboxPolicy;
import dev.rackcall.rpc.Status;
import dev.rackcall.rpc.isolation.Vault.Coin;
import dev.rackcall.sandbox.SealHolder;
import dev.rackcall.sandbox.os.UnsupportedFeatureException;
import dev.rackcall.sandbox.os.Userfault;
import dev.rackcall.shm.Scope;
import dev.rackcall.shm.pool.PoolOptions.Wish;
import dev.rackcall.testkit.Await;
import dev.rackcall.testkit.ChildJvm;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Seals that callers cannot lift: the holder and each hostile caller run in processes of their own, because a caller is
 * restricted for good.
 */
@Timeout(180)
class EnforcedCallTest {
    private static final int SECONDS = 60;
    private static final List<String> ATTACKS = List.of(
            "mprotect",
            "munmap",
            "mremap",
            "remap",
            "map",
            "map_reopened",
            "pwrite",
            "proc_self_mem",
            "read_into",
            "hole",
            "truncate",
            "userfaultfd",
            "io_uring",
            "remove",
            "dofork");

    @TempDir
    Path directory;

    private final Service service = new Service();
    private Path socket;

    private static final class Service implements SealedVault {
        private final CountDownLatch read = new CountDownLatch(1);
        private final CountDownLatch goOn = new CountDownLatch(1);

        @Override
        public CompletableFuture<List<Long>> valueTwiceLater(Coin argument) {
            long before = argument.value();
            CompletableFuture<List<Long>> values = new CompletableFuture<>();
            Thread.ofPlatform().daemon().start(() -> {
                read.countDown();
                await(goOn);
                values.complete(List.of(before, argument.value()));
            });
            return values;
        }

        @Override
        public long value(Coin argument) {
            return argument.value();
        }

        @Override
        public List<Long> valueTwice(Coin argument) {
            return List.of(argument.value(), argument.value());
        }

        @Override
        public List<Long> copyTwice(Coin argument) {
            return valueTwice(argument);
        }

        @Override
        public Stream<Long> values(Coin argument) {
            return Stream.of(argument.value());
        }

        @Override
        public void tell(Coin argument) {
            argument.value();
        }

        @Override
        public long fail(Coin argument) {
            throw Status.Code.ABORTED.with("on purpose").asException();
        }
    }

    private static void await(CountDownLatch latch) {
        try {
            assertThat(latch.await(SECONDS, TimeUnit.SECONDS)).isTrue();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    @BeforeEach
    void start() {
        try {
            Userfault.open().close();
        } catch (UnsupportedFeatureException e) {
            System.err.println("SKIPPED EnforcedCallTest: " + e.getMessage());
            assumeThat(e).isNull();
        }
        socket = directory.resolve("holder");
    }

    @AfterEach
    void goOn() {
        service.goOn.countDown();
    }

    private RpcServer serve(SandboxPolicy policy) {
        return RpcServer.builder()
                .service(SealedVault.class, service)
                .directory(directory)
                // Handlers then read in place only because a holder has the seal.
                .minimumIsolation(Isolation.AUTO)
                .sandbox(policy)
                .start();
    }

    private ChildJvm startHolder() {
        String[] kernel = System.getProperty("os.version").split("[.-]");
        int version = Integer.parseInt(kernel[0]) * 1000 + Integer.parseInt(kernel[1]);
        if (version < 6010) {
            System.err.println("SKIPPED EnforcedCallTest: Linux " + version + " has no mseal");
        }
        assumeThat(version).isGreaterThanOrEqualTo(6010);
        ChildJvm holder = ChildJvm.start(SealHolder.class, directory, socket.toString());
        Await.until("the holder serves", () -> Files.exists(socket));
        return holder;
    }

    @Test
    void shouldKeepAnArgumentThatItsCallerTriesToChange() throws Exception {
        try (ChildJvm holder = startHolder();
                RpcServer server = serve(SandboxPolicy.STRICT.withEnforcedSeals(socket, Wish.REQUIRE));
                ChildJvm caller = ChildJvm.start(EnforcedCaller.class, directory, socket.toString())) {
            await(service.read);
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
    }

    @Test
    void shouldFailACallWhoseHolderEndsMeanwhile() throws Exception {
        try (ChildJvm holder = startHolder();
                RpcServer server = serve(SandboxPolicy.STRICT.withEnforcedSeals(socket, Wish.PREFER));
                ChildJvm caller = ChildJvm.start(EnforcedCaller.class, directory, socket.toString())) {
            await(service.read);
            holder.kill();
            service.goOn.countDown();
            caller.send("enough");
            assertThat(caller.awaitLine("values "))
                    .startsWith("values " + Status.Code.ABORTED)
                    .contains("whoever held the seal");
            assertThat(caller.awaitLine("after ")).isEqualTo("after 77");
            assertThat(server.connections()).isNotNegative();
        }
    }

    /** The server trusts another holder, which does not know the caller's session. */
    @Test
    void shouldNotRestrictAClientWhoseServerNamesAnotherHolder() throws Exception {
        Path trusted = directory.resolve("trusted");
        try (ChildJvm holder = startHolder();
                SealHolder another = SealHolder.start(trusted);
                RpcServer server = serve(SandboxPolicy.STRICT.withEnforcedSeals(trusted, Wish.PREFER));
                ChildJvm caller = ChildJvm.start(RefusedCaller.class, directory, socket.toString())) {
            assertThat(caller.awaitLine("seccomp ")).isEqualTo("seccomp 0");
            assertThat(caller.awaitLine("value ")).isEqualTo("value 7");
            assertThat(caller.awaitLine("seals ")).as("its own").isEqualTo("seals 1");
            assertThat(holder.isAlive()).isTrue();
            assertThat(another).isNotNull();
            Await.equal("connections", 0, server::connections);
        }
    }

    /** The caller is the holder itself and keeps the userfaultfd that it was given. */
    @Test
    void shouldNotRestrictAProcessThatItsHolderRefuses() {
        try (SealHolder holder = SealHolder.start(socket);
                RpcServer server = serve(SandboxPolicy.STRICT.withEnforcedSeals(socket, Wish.PREFER))) {
            RpcChannel.Builder required =
                    RpcChannel.builder("/test/sealed").directory(directory).enforcedSeals(socket, Wish.REQUIRE);
            assertThatThrownBy(required::open).hasMessageContaining("still has a userfaultfd");
            assertThat(holder).isNotNull();

            try (Userfault own = Userfault.open();
                    RpcChannel channel = RpcChannel.builder("/test/sealed")
                            .directory(directory)
                            .enforcedSeals(socket, Wish.PREFER)
                            .open();
                    Scope scope = channel.newScope()) {
                assertThat(own.fd()).as("none is forbidden").isPositive();
                Coin coin = scope.create(Coin.class);
                coin.value(7);
                assertThat(channel.stub(SealedVault.class).value(coin)).isEqualTo(7);
            }
            Await.equal("connections", 0, server::connections);
        }
    }

    @Test
    void shouldSendASnapshotWhereUserfaultfdIsForbidden() throws Exception {
        try (RpcServer server = serve(SandboxPolicy.STRICT);
                ChildJvm caller = ChildJvm.start(ForbiddenCaller.class, directory)) {
            await(service.read);
            assertThat(server.connections()).isEqualTo(1);
            caller.send("change");
            caller.awaitLine("changed to 6");
            service.goOn.countDown();
            assertThat(caller.awaitLine("values ")).isEqualTo("values [5, 5]");
        }
    }

    @Test
    void shouldRefuseSealsThatTheCallerHoldsItself() {
        try (RpcServer server = serve(SandboxPolicy.STRICT.withEnforcedSeals(socket, Wish.REQUIRE));
                RpcChannel channel =
                        RpcChannel.builder("/test/sealed").directory(directory).open();
                Scope scope = channel.newScope()) {
            Coin coin = scope.create(Coin.class);
            coin.value(7);
            assertThat(server.connections()).isEqualTo(1);
            for (Isolation tooLittle : List.of(Isolation.SEALED, Isolation.TRUSTED)) {
                SealedVault vault = channel.stub(SealedVault.class, CallOptions.DEFAULT.withIsolation(tooLittle));
                assertThatThrownBy(() -> vault.value(coin))
                        .isInstanceOfSatisfying(
                                RpcException.class,
                                refused -> assertThat(refused.code()).isEqualTo(Status.Code.FAILED_PRECONDITION))
                        .hasMessageContaining("demanded");
            }
            SealedVault copied = channel.stub(SealedVault.class, CallOptions.DEFAULT.withIsolation(Isolation.SNAPSHOT));
            assertThat(copied.value(coin)).isEqualTo(7);
        }
    }

    @Test
    void shouldNotOpenAChannelWhoseSealsNobodyHolds() {
        try (RpcServer server = serve(SandboxPolicy.STRICT)) {
            RpcChannel.Builder required =
                    RpcChannel.builder("/test/sealed").directory(directory).enforcedSeals(socket, Wish.REQUIRE);
            assertThatThrownBy(required::open)
                    .isInstanceOfSatisfying(
                            RpcException.class,
                            refused -> assertThat(refused.code()).isEqualTo(Status.Code.FAILED_PRECONDITION))
                    .hasMessageContaining("does not trust that holder");
            try (RpcChannel channel = RpcChannel.builder("/test/sealed")
                            .directory(directory)
                            .enforcedSeals(socket, Wish.PREFER)
                            .open();
                    Scope scope = channel.newScope()) {
                Coin coin = scope.create(Coin.class);
                coin.value(7);
                assertThat(channel.stub(SealedVault.class).value(coin)).isEqualTo(7);
            }
            Await.equal("connections", 0, server::connections);
        }
    }

    /** The process could no longer lift these seals once others are enforced. */
    @Test
    void shouldNotEnforceTheSealsOfAProcessThatHoldsSomeItself() {
        try (SealHolder holder = SealHolder.start(socket);
                RpcServer server = serve(SandboxPolicy.STRICT.withEnforcedSeals(socket, Wish.PREFER));
                Userfault own = Userfault.open()) {
            RpcChannel.Builder required =
                    RpcChannel.builder("/test/sealed").directory(directory).enforcedSeals(socket, Wish.REQUIRE);
            assertThatThrownBy(required::open)
                    .isInstanceOfSatisfying(
                            RpcException.class,
                            refused -> assertThat(refused.code()).isEqualTo(Status.Code.FAILED_PRECONDITION))
                    .hasMessageContaining("this process holds seals itself");
            assertThat(own.fd()).isPositive();
            assertThat(holder).isNotNull();
            Await.equal("connections", 0, server::connections);
        }
    }

    @Test
    void shouldSayThatNoHolderServes() {
        try (RpcServer server = serve(SandboxPolicy.STRICT.withEnforcedSeals(socket, Wish.PREFER))) {
            RpcChannel.Builder required =
                    RpcChannel.builder("/test/sealed").directory(directory).enforcedSeals(socket, Wish.REQUIRE);
            assertThatThrownBy(required::open)
                    .isInstanceOfSatisfying(
                            RpcException.class,
                            refused -> assertThat(refused.code()).isEqualTo(Status.Code.FAILED_PRECONDITION))
                    .hasMessageContaining("no holder of seals at " + socket);
            Await.equal("connections", 0, server::connections);
        }
    }
}
