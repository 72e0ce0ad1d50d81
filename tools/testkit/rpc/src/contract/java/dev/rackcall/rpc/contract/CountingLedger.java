package dev.rackcall.rpc.contract;

import static org.assertj.core.api.Assertions.assertThat;

import dev.rackcall.rpc.RpcChannel;
import dev.rackcall.rpc.Status;
import dev.rackcall.rpc.contract.Ledger.Account;
import dev.rackcall.shm.Scope;
import java.util.concurrent.atomic.AtomicInteger;

/** One of several servers' ledgers: knows whether its handlers have stored. */
public final class CountingLedger extends LedgerService {
    private final AtomicInteger deposits = new AtomicInteger();

    @Override
    public long deposit(Account account, long amount) {
        deposits.incrementAndGet();
        return super.deposit(account, amount);
    }

    public int deposits() {
        return deposits.get();
    }

    /** Passes new objects to methods of all kinds that store into them; some server answers. */
    public static void assertDeposits(RpcChannel channel, Ledger ledger) {
        try (Scope scope = channel.newScope()) {
            Account account = scope.create(Account.class);
            account.balance(1);
            assertThat(ledger.deposit(account, 100)).isEqualTo(101);
            assertThat(account.balance()).isEqualTo(101);
            assertThat(ledger.depositLater(account, 100).join()).isEqualTo(201);
            assertThat(account.balance()).isEqualTo(201);
            // The next handler sees them, too.
            assertThat(ledger.balance(account)).isEqualTo(201);
            RpcFixture.assertFails(Status.Code.INTERNAL, () -> ledger.steal(account))
                    .hasMessageContaining("may only be read");
            assertThat(account.balance()).isEqualTo(201);
        }
    }
}
