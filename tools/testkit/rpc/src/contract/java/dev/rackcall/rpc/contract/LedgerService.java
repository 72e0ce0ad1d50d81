package dev.rackcall.rpc.contract;

import dev.rackcall.rpc.RpcContext;
import dev.rackcall.rpc.Status;
import dev.rackcall.shm.Scope;
import dev.rackcall.shm.types.SharedLongArray;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;

/** Implements {@link Ledger}. */
public class LedgerService implements Ledger {
    private static final int LONG_TOTALS = 100_000;

    /** The balances that one-way calls told. */
    final Queue<Long> told = new ConcurrentLinkedQueue<>();

    private volatile CompletableFuture<Void> held = CompletableFuture.completedFuture(null);

    /** Asynchronous calls do not end until {@link #letGo}. Forgets what was told before. */
    void hold() {
        told.clear();
        held = new CompletableFuture<>();
    }

    void letGo() {
        held.complete(null);
    }

    @Override
    public long balance(Account account) {
        return account.balance();
    }

    @Override
    public CompletableFuture<Long> balanceLater(Account account) {
        return held.thenApplyAsync(_ -> account.balance());
    }

    @Override
    public void tell(Account account) {
        told.add(account.balance());
    }

    @Override
    public long steal(Account account) {
        account.balance(account.balance() + 100);
        return account.balance();
    }

    @Override
    public void renameUnasked(Account account) {
        account.owner("the server");
    }

    @Override
    public long deposit(Account account, long amount) {
        account.balance(account.balance() + amount);
        account.open(true);
        return account.balance();
    }

    @Override
    public CompletableFuture<Long> depositLater(Account account, long amount) {
        return held.thenApplyAsync(_ -> deposit(account, amount));
    }

    @Override
    public void depositEach(List<Account> accounts, long amount) {
        accounts.forEach(account -> deposit(account, amount));
    }

    @Override
    public Account depositAlong(Account first, long amount) {
        do {
            deposit(first, amount);
        } while (first.next(first));
        return first;
    }

    @Override
    public void count(Account account) {
        for (int i = 0; i < account.totals().length(); i++) {
            account.totals().set(i, i);
        }
    }

    @Override
    public void enter(Account account, long entry) {
        account.entries().add(entry);
    }

    @Override
    public void rename(Account account) {
        account.owner("the server");
    }

    @Override
    public void failAfterDeposit(Account account) {
        deposit(account, 100);
        throw Status.Code.ABORTED.with("after the deposit").asException();
    }

    @Override
    public Account openAccount(long balance) {
        Account account = RpcContext.current().orElseThrow().replyScope().create(Account.class);
        account.balance(balance);
        return account;
    }

    @Override
    public CompletableFuture<List<Account>> openLater(long balance) {
        Scope scope = RpcContext.current().orElseThrow().replyScope();
        List<Account> accounts = List.of(scope.create(Account.class), scope.create(Account.class));
        accounts.forEach(account -> account.balance(balance));
        accounts.getLast().totals(SharedLongArray.create(scope, LONG_TOTALS));
        return held.thenApplyAsync(_ -> accounts);
    }
}
