package dev.rackcall.perf;

import dev.rackcall.rpc.Rpc;
import dev.rackcall.rpc.RpcService;
import java.util.concurrent.CompletableFuture;

/** The service that is measured. Its handlers do nothing but show that the argument arrived. */
@RpcService("/bench/calls")
interface BenchCalls {
    /** Returns its argument. */
    @Rpc
    long noop(long sequence);

    /** Returns its argument. */
    @Rpc
    CompletableFuture<Long> noopLater(long sequence);

    /** Returns its argument, by value. */
    @Rpc
    byte[] echo(byte[] payload);

    /** Returns the sequence that it finds in the root of a graph that is passed by pointer. */
    @Rpc
    long touch(BenchNode root);
}
