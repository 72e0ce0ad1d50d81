package dev.rackcall.rpc.isolation;

import dev.rackcall.rpc.CallOptions;
import dev.rackcall.rpc.Isolation;
import dev.rackcall.rpc.RpcChannel;
import dev.rackcall.rpc.RpcException;
import dev.rackcall.rpc.contract.Ledger;
import dev.rackcall.rpc.contract.Ledger.Account;
import dev.rackcall.shm.Scope;
import dev.rackcall.shm.pool.PoolOptions.Wish;
import java.nio.file.Path;

/**
 * A caller whose seals a holder keeps, and whose handlers store into its arguments, as declared or not. It prints what it
 * sees in each mode. Argument: the holder's socket.
 */
public final class EnforcedLedgerCaller {
    private EnforcedLedgerCaller() {}

    public static void main(String[] arguments) {
        try (RpcChannel channel = RpcChannel.builder("/test/ledger")
                        .enforcedSeals(Path.of(arguments[0]), Wish.REQUIRE)
                        .open();
                Scope scope = channel.newScope()) {
            for (Isolation isolation : new Isolation[] {Isolation.SEALED, Isolation.AUTO, Isolation.SNAPSHOT}) {
                Ledger ledger = channel.stub(Ledger.class, CallOptions.DEFAULT.withIsolation(isolation));
                Account account = scope.create(Account.class);
                account.balance(1);
                String refused;
                try {
                    refused = "stored " + ledger.steal(account);
                } catch (RpcException e) {
                    refused = e.code().toString();
                }
                System.out.println(isolation + " " + refused + " " + account.balance() + " "
                        + ledger.deposit(account, 100) + " " + account.balance() + " " + ledger.balance(account));
            }
            System.out.println("done");
        }
    }
}
