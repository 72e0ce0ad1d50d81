package dev.rackcall.rdma;

import dev.rackcall.rpc.Rpc;
import dev.rackcall.rpc.RpcService;
import dev.rackcall.rpc.contract.Library.Page;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/** A service by which clients pass each other objects. */
@RpcService("/test/shelf")
interface Shelf {
    /** Puts a chain under this number, as long as its owner keeps it. */
    @Rpc
    void put(int number, Page first);

    /** As {@link #put}; the server adopts it. */
    @Rpc
    void keep(int number, Page first);

    /** The chain under this number. */
    @Rpc
    Page get(int number);

    /** As {@link #get}, by a future. With a negative number it never completes until the test fails it. */
    @Rpc
    CompletableFuture<Page> later(int number);

    /** As {@link #put}, but returns only when the test allows it; keeps its thread busy if the number is negative. */
    @Rpc
    void hold(int number, Page first);

    /** Drops what was kept. */
    @Rpc
    void drop(int number);

    /** The numbers of this many pages, read by the server. */
    @Rpc
    List<Long> read(Page first, int pages);
}
