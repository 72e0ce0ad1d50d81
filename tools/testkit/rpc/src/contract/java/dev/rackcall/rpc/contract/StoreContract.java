package dev.rackcall.rpc.contract;

import static dev.rackcall.testkit.Thrown.assertThrown;
import static org.assertj.core.api.Assertions.assertThat;

import dev.rackcall.rpc.CallOptions;
import dev.rackcall.rpc.Isolation;
import dev.rackcall.rpc.RpcChannel;
import dev.rackcall.rpc.RpcServer;
import dev.rackcall.rpc.Status;
import dev.rackcall.rpc.contract.Ledger.Account;
import dev.rackcall.shm.ReadOnlyObjectException;
import dev.rackcall.shm.Scope;
import dev.rackcall.shm.types.SharedLongArray;
import dev.rackcall.shm.types.SharedLongList;
import dev.rackcall.shm.types.SharedObject;
import dev.rackcall.testkit.Await;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * What a handler stores into its arguments: refused, or seen by the caller, and the same in every mode and over every
 * transport.
 */
public abstract class StoreContract extends RpcFixture {
    private static final long STEP_NANOS = 20_000;

    /** What the server's {@link Ledger} does. */
    final LedgerService ledgerService = new LedgerService();

    /** Places a server, whose services include {@link Ledger}. */
    protected abstract RpcServer.Builder place(RpcServer.Builder builder);

    /** As {@link #place(RpcServer.Builder)}. */
    protected abstract RpcChannel.Builder place(RpcChannel.Builder builder);

    private final class Client implements AutoCloseable {
        final RpcChannel channel = open(place(RpcChannel.builder("/test/ledger")));
        final Ledger ledger;
        final Scope scope = channel.newScope();

        Client(Isolation isolation) {
            ledger = channel.stub(Ledger.class, CallOptions.DEFAULT.withIsolation(isolation));
        }

        Account account(long balance) {
            Account account = scope.create(Account.class);
            account.balance(balance);
            return account;
        }

        @Override
        public void close() {
            scope.close();
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"TRUSTED", "SNAPSHOT", "SEALED", "AUTO"})
    void shouldRefuseAStoreThatTheMethodDoesNotDeclare(Isolation isolation) {
        try (Client client = new Client(isolation)) {
            Account account = client.account(1);
            assertFails(Status.Code.INTERNAL, () -> client.ledger.steal(account))
                    .hasMessageContainingAll("/test/ledger/steal", "may only be read", "@Rpc(writes = true)");
            assertFails(Status.Code.INTERNAL, () -> client.ledger.renameUnasked(account))
                    .hasMessageContaining("may only be read");
            assertThat(account.balance()).isEqualTo(1);
            assertThat(client.ledger.balance(account)).isEqualTo(1);
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"TRUSTED", "SNAPSHOT", "SEALED", "AUTO"})
    void shouldShowTheCallerWhatAHandlerStores(Isolation isolation) {
        try (Client client = new Client(isolation)) {
            Account account = client.account(1);
            assertThat(client.ledger.deposit(account, 100)).isEqualTo(101);
            assertThat(account.balance()).isEqualTo(101);
            assertThat(account.open()).isTrue();
            assertThat(client.ledger.balance(account)).isEqualTo(101);
            // The caller's next store is what the next handler sees, also if it restores what was passed before.
            account.balance(1);
            assertThat(client.ledger.balance(account)).isEqualTo(1);
            assertThat(client.ledger.deposit(account, 1)).isEqualTo(2);
            assertThat(account.balance()).isEqualTo(2);
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"TRUSTED", "SNAPSHOT", "SEALED", "AUTO"})
    void shouldShowWhatAHandlerStoresOnceItsFutureHasCompleted(Isolation isolation) throws Exception {
        try (Client client = new Client(isolation)) {
            Account account = client.account(1);
            for (int i = 0; i < 10; i++) {
                long balance = client.ledger.depositLater(account, 100).get(30, TimeUnit.SECONDS);
                assertThat(account.balance()).isEqualTo(balance);
            }
            assertThat(account.balance()).isEqualTo(1001);
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"TRUSTED", "SNAPSHOT", "SEALED", "AUTO"})
    void shouldShowStoresIntoAllObjectsOfTheScope(Isolation isolation) {
        try (Client client = new Client(isolation)) {
            Account first = client.account(0);
            Account last = first;
            // Long enough for several runs.
            for (int i = 1; i < 1000; i++) {
                Account next = client.account(i);
                last.next(SharedObject.toRef(next));
                last = next;
            }
            Account returned = client.ledger.depositAlong(first, 1000);
            assertThat(returned).isEqualTo(last);
            assertThat(returned.balance()).isEqualTo(1999);
            Account each = client.scope.create(Account.class);
            each.next(SharedObject.toRef(first));
            for (int i = 0; each.next(each); i++) {
                assertThat(each.balance()).isEqualTo(1000 + i);
            }
            client.ledger.depositEach(List.of(first, last), 1);
            assertThat(first.balance()).isEqualTo(1001);
            assertThat(last.balance()).isEqualTo(2000);
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"TRUSTED", "SNAPSHOT", "SEALED", "AUTO"})
    void shouldShowLargeAndSparseStores(Isolation isolation) {
        try (Client client = new Client(isolation)) {
            Account account = client.account(0);
            account.totals(SharedLongArray.create(client.scope, 100_000));
            account.totals().set(0, -1);
            client.ledger.count(account);
            for (int i = 0; i < 100_000; i++) {
                assertThat(account.totals().get(i)).isEqualTo(i);
            }
            account.entries(SharedLongList.create(client.scope));
            account.entries().add(7);
            client.ledger.enter(account, 8);
            assertThat(account.entries().size()).isEqualTo(2);
            assertThat(account.entries().get(1)).isEqualTo(8);
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"TRUSTED", "SNAPSHOT", "SEALED", "AUTO"})
    void shouldNotLetAHandlerAllocateInItsCallersScope(Isolation isolation) {
        try (Client client = new Client(isolation)) {
            Account account = client.account(1);
            assertFails(Status.Code.INTERNAL, () -> client.ledger.rename(account))
                    .hasMessageContainingAll("/test/ledger/rename", "owner", "replyScope");
            assertThat(account.owner()).isEmpty();
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"TRUSTED", "SNAPSHOT"})
    void shouldRefuseStoresIntoAnotherScope(Isolation isolation) {
        try (Client client = new Client(isolation);
                Scope elsewhere = client.channel.newScope()) {
            Account other = elsewhere.create(Account.class);
            // Passed by itself, so that it also reaches peers with separate memory.
            assertThat(client.ledger.balance(other)).isZero();
            Account account = client.account(1);
            account.next(SharedObject.toRef(other));
            assertFails(
                    isolation == Isolation.TRUSTED ? Status.Code.INTERNAL : Status.Code.PERMISSION_DENIED,
                    () -> client.ledger.depositAlong(account, 1));
            assertThat(other.balance()).isZero();
            assertFails(Status.Code.INVALID_ARGUMENT, () -> client.ledger.depositEach(List.of(account, other), 1))
                    .hasMessageContainingAll("'accounts'", "passes one scope");
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"TRUSTED", "SNAPSHOT"})
    void shouldEndACallThatFailsAfterItsStores(Isolation isolation) {
        try (Client client = new Client(isolation)) {
            Account account = client.account(1);
            assertFails(Status.Code.ABORTED, () -> client.ledger.failAfterDeposit(account));
            long left = account.balance();
            assertThat(left).isIn(1L, 101L);
            // Whatever the caller sees is what the next handler sees.
            assertThat(client.ledger.balance(account)).isEqualTo(left);
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"TRUSTED", "SNAPSHOT", "SEALED", "AUTO"})
    void shouldQueueAsynchronousCallsWithoutBlockingTheirCallerWhateverTheyPass(Isolation isolation) {
        int calls = 8;
        RpcChannel channel = open(place(RpcChannel.builder("/test/ledger").slots(2)));
        Ledger ledger = channel.stub(Ledger.class, CallOptions.DEFAULT.withIsolation(isolation));
        List<Scope> scopes = new ArrayList<>();
        List<Account> read = new ArrayList<>();
        List<Account> written = new ArrayList<>();
        for (int i = 0; i < calls; i++) {
            scopes.add(channel.newScope());
            Account account = scopes.getLast().create(Account.class);
            account.balance(i);
            read.add(account);
            scopes.add(channel.newScope());
            account = scopes.getLast().create(Account.class);
            account.balance(i);
            written.add(account);
        }
        ledgerService.hold();
        List<CompletableFuture<Long>> balances = new ArrayList<>();
        List<CompletableFuture<Long>> deposits = new ArrayList<>();
        // No call ends before the last one was made. The first two have the slots.
        for (int i = 0; i < calls; i++) {
            balances.add(ledger.balanceLater(read.get(i)));
            deposits.add(ledger.depositLater(written.get(i), 100));
            ledger.tell(written.get(i));
        }
        assertThat(balances).noneMatch(CompletableFuture::isDone);
        assertThat(ledgerService.told).isEmpty();
        ledgerService.letGo();
        for (int i = 0; i < calls; i++) {
            assertThat(balances.get(i).join()).isEqualTo(i);
            assertThat(deposits.get(i).join()).isEqualTo(100 + i);
            assertThat(written.get(i).balance()).isEqualTo(100 + i);
        }
        Await.equal("one-way calls", calls, ledgerService.told::size);
        assertThat(ledger.balance(written.getLast())).isEqualTo(100 + calls - 1);
        scopes.forEach(Scope::close);
    }

    @Test
    void shouldWriteAScopeWhosePagesAnEarlierCallHasClosed() {
        try (Client client = new Client(Isolation.SEALED)) {
            Account account = client.account(1);
            // Its pages stay closed after the call.
            assertThat(client.ledger.balance(account)).isEqualTo(1);
            assertThat(client.ledger.deposit(account, 1)).isEqualTo(2);
            assertThat(account.balance()).isEqualTo(2);
        }
    }

    @Test
    void shouldLetACallerOnlyReadResults() {
        try (Client client = new Client(Isolation.TRUSTED)) {
            Account result = client.ledger.openAccount(5);
            assertThrown(ReadOnlyObjectException.class, () -> result.balance(6), "may only be read");
            assertThat(client.ledger.balance(result)).isEqualTo(5);
            // The server's objects are not in a scope of the caller.
            assertFails(Status.Code.INVALID_ARGUMENT, () -> client.ledger.deposit(result, 1))
                    .hasMessageContaining("the server's");
            client.channel.release(result);
        }
    }

    /** The answers come before or after their callers give up, and fill the reply arena many times over. */
    @Test
    void shouldReleaseWhatUnwantedResultsContain() {
        RpcChannel channel =
                open(place(RpcChannel.builder("/test/ledger")).slots(2).arenaQuota(4 << 20));
        Ledger ledger = channel.stub(Ledger.class);
        for (int i = 0; i < 60; i++) {
            ledgerService.hold();
            // The third one waits for a slot.
            List<CompletableFuture<List<Account>>> calls =
                    List.of(ledger.openLater(i), ledger.openLater(i), ledger.openLater(i));
            ledgerService.letGo();
            // Cancelled at another moment in each round.
            for (long end = System.nanoTime() + i * STEP_NANOS; System.nanoTime() - end < 0; ) {
                Thread.onSpinWait();
            }
            calls.forEach(call -> call.cancel(true));
            calls.stream()
                    .filter(call -> call.state() == Future.State.SUCCESS)
                    .forEach(call -> channel.release(call.resultNow().getFirst()));
        }
        Await.until(
                "room for a result",
                () -> ledger.openLater(1)
                        .handle((accounts, failure) ->
                                failure == null && accounts.getLast().balance() == 1)
                        .join());
    }
}
