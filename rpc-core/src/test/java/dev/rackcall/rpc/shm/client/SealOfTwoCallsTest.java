package dev.rackcall.rpc.shm.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assumptions.assumeThat;

import dev.rackcall.rpc.RpcServer;
import dev.rackcall.rpc.Status;
import dev.rackcall.rpc.contract.RpcFixture;
import dev.rackcall.rpc.isolation.ReadingVault;
import dev.rackcall.rpc.isolation.SealedVault;
import dev.rackcall.rpc.isolation.Vault.Coin;
import dev.rackcall.rpc.shm.protocol.SealMemory;
import dev.rackcall.rpc.shm.protocol.SlotLayout;
import dev.rackcall.sandbox.SealException;
import dev.rackcall.sandbox.Seals;
import dev.rackcall.shm.Scope;
import dev.rackcall.shm.types.SharedObject;
import dev.rackcall.testkit.Await;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.HashMap;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Requests that name the seal under which another call is reading: that one's argument must stay closed. */
class SealOfTwoCallsTest extends RpcFixture {

    private final CountDownLatch read = new CountDownLatch(1);
    private final CompletableFuture<List<Long>> answer = new CompletableFuture<>();

    private RpcServer server;

    @BeforeEach
    void start() {
        server = serve(SealedVault.class, new ReadingVault() {
            @Override
            public CompletableFuture<List<Long>> valueTwiceLater(Coin coin) {
                coin.value();
                read.countDown();
                return answer;
            }
        });
    }

    private static int method(String name) {
        return HostileConnection.method(SealedVault.class, name);
    }

    private static void call(HostileConnection connection, int method, long seal, Coin coin) {
        byte[] argument = ByteBuffer.allocate(Long.BYTES)
                .order(ByteOrder.nativeOrder())
                .putLong(SharedObject.refOf(coin))
                .array();
        connection.payload(argument, false);
        connection.isolation(seal);
        connection.publish(SlotLayout.word(0, method, SlotLayout.SEALED, argument.length));
    }

    private static Seals seals(HostileConnection connection) {
        Optional<Seals> seals = SealMemory.open(connection.file, connection.memory, HostileConnection.SLOTS)
                .flatMap(memory -> memory.sender(connection.requestArena(), connection.file, 1));
        if (seals.isEmpty()) {
            System.err.println("SKIPPED SealOfTwoCallsTest: this host has no userfaultfd");
        }
        assumeThat(seals).isPresent();
        return seals.get();
    }

    @ParameterizedTest
    @ValueSource(strings = {"value", "fail", "copyTwice", "no such method"})
    void shouldStayUntilTheCallThatReadsUnderItHasEnded(String second) throws Exception {
        try (HostileConnection hostile = HostileConnection.open(directory, "/test/sealed", new HashMap<>());
                Seals seals = seals(hostile);
                Scope scope = hostile.requestArena().newScope()) {
            Coin coin = scope.create(Coin.class);
            coin.value(5);
            long seal = seals.seal(scope, "the first call");
            call(hostile, method("valueTwiceLater"), seal, coin);
            Await.latch(read);

            call(hostile, second.contains(" ") ? 711 : method(second), seal, coin);
            Await.until("the second call is answered", () -> SlotLayout.isOf(hostile.response(1), 1));
            assertThat(hostile.codeOf(1)).isNotEqualTo(Status.Code.OK);
            assertThat(seals.isDone(seal)).isFalse();
            assertThatThrownBy(() -> seals.release(seal)).isInstanceOf(SealException.class);

            answer.complete(List.of(5L, 5L));
            assertThat(hostile.await()).isEqualTo(HostileConnection.End.ANSWERED);
            assertThat(hostile.codeOf(0)).isEqualTo(Status.Code.OK);
            seals.release(seal);
            assertThat(server.connections()).isEqualTo(1);
        }
    }

    /** A seal that no call could read under goes back to its owner all the same. */
    @Test
    void shouldGoBackIfItsOnlyCallFails() throws Exception {
        try (HostileConnection hostile = HostileConnection.open(directory, "/test/sealed", new HashMap<>());
                Seals seals = seals(hostile);
                Scope scope = hostile.requestArena().newScope();
                Scope other = hostile.requestArena().newScope()) {
            Coin coin = scope.create(Coin.class);
            for (int method : new int[] {711, method("fail")}) {
                long seal = seals.seal(other, "a call");
                call(hostile, method, seal, coin);
                assertThat(hostile.await()).isEqualTo(HostileConnection.End.ANSWERED);
                seals.release(seal);
            }
            assertThat(server.connections()).isEqualTo(1);
        }
    }
}
