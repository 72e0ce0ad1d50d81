package dev.rackcall.rpc.contract;

import dev.rackcall.rpc.Rpc;
import dev.rackcall.rpc.RpcService;
import dev.rackcall.shm.Ref;
import dev.rackcall.shm.types.Shared;
import dev.rackcall.shm.types.SharedLongArray;
import dev.rackcall.shm.types.SharedLongList;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/** The service of the tests whose handlers store into their arguments, as declared or not. */
@RpcService("/test/ledger")
public interface Ledger {
    /** An account, linked to the next. */
    @Shared
    interface Account {
        long balance();

        void balance(long value);

        boolean open();

        void open(boolean value);

        String owner();

        void owner(String value);

        SharedLongList entries();

        void entries(SharedLongList value);

        SharedLongArray totals();

        void totals(SharedLongArray value);

        Ref<Account> next();

        void next(Ref<Account> value);

        boolean next(Account into);
    }

    @Rpc
    long balance(Account account);

    @Rpc
    CompletableFuture<Long> balanceLater(Account account);

    @Rpc(oneWay = true)
    void tell(Account account);

    /** Stores without having declared it. */
    @Rpc
    long steal(Account account);

    /** Allocates without having declared that it stores. */
    @Rpc
    void renameUnasked(Account account);

    @Rpc(writes = true)
    long deposit(Account account, long amount);

    @Rpc(writes = true)
    CompletableFuture<Long> depositLater(Account account, long amount);

    @Rpc(writes = true)
    void depositEach(List<Account> accounts, long amount);

    /** Stores into all accounts of a chain, and returns the last one. */
    @Rpc(writes = true)
    Account depositAlong(Account first, long amount);

    /** Stores into each total its index. */
    @Rpc(writes = true)
    void count(Account account);

    @Rpc(writes = true)
    void enter(Account account, long entry);

    /** Allocates in its argument's scope. */
    @Rpc(writes = true)
    void rename(Account account);

    @Rpc(writes = true)
    void failAfterDeposit(Account account);

    @Rpc
    Account openAccount(long balance);

    /** Opens two accounts with long totals. */
    @Rpc(idempotent = true)
    CompletableFuture<List<Account>> openLater(long balance);
}
