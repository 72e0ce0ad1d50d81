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
import dev.rackcall.shm.types.SharedObject;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * What a handler stores into its arguments: refused, or seen by the caller, and the same in every mode and over every
 * transport.
 */
public abstract class StoreContract extends RpcFixture {
    /** What the server's {@link Ledger} does. */
    protected final LedgerService ledgerService = new LedgerService();

    /** Places a server, whose services include {@link Ledger}. */
    protected abstract RpcServer.Builder place(RpcServer.Builder builder);

    /** As {@link #place(RpcServer.Builder)}. */
    protected abstract RpcChannel.Builder place(RpcChannel.Builder builder);

    final class Client implements AutoCloseable {
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
}
