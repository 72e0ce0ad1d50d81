package dev.rackcall.rpc.contract;

import static org.assertj.core.api.Assertions.assertThat;

import dev.rackcall.rpc.CallOptions;
import dev.rackcall.rpc.Isolation;
import dev.rackcall.rpc.RpcChannel;
import dev.rackcall.rpc.contract.Ledger.Account;
import dev.rackcall.shm.Scope;
import dev.rackcall.shm.types.SharedLongArray;
import dev.rackcall.shm.types.SharedLongList;
import dev.rackcall.testkit.Await;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The contract of transports: many and large stores, and results that no caller gets. */
public abstract class ManyStoresContract extends StoreContract {
    private static final long STEP_NANOS = 20_000;

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
