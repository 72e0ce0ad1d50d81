package dev.rackcall.rdma;

import dev.rackcall.rpc.Rpc;
import dev.rackcall.rpc.RpcService;
import dev.rackcall.rpc.contract.Library.Page;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/** A service by which clients hand each other what they have built. */
@RpcService("/test/shelf")
interface Shelf {
    /** Has it found under that number, as long as its owner keeps it. */
    @Rpc
    void put(int number, Page first);

    /** As {@link #put}, for as long as the server likes. */
    @Rpc
    void keep(int number, Page first);

    /** What was put there. */
    @Rpc
    Page get(int number);

    /** As {@link #get}, by a future that waits for it if the number is negative, and then fails. */
    @Rpc
    CompletableFuture<Page> later(int number);

    /** As {@link #put}, and comes back when the test lets it; keeps its thread busy meanwhile if the number is negative. */
    @Rpc
    void hold(int number, Page first);

    /** Forgets what was kept. */
    @Rpc
    void drop(int number);

    /** The numbers of so many pages, read by the server. */
    @Rpc
    List<Long> read(Page first, int pages);
}
