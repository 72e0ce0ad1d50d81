package dev.rackcall.perf;

import dev.rackcall.rpc.Rpc;
import dev.rackcall.rpc.RpcService;

/** The service whose calls are measured in each isolation mode. */
@RpcService("/bench/vault")
interface BenchVault {
    /** Looks at the head of its argument only; returns the sequence there. */
    @Rpc
    long touch(BenchPages pages);

    /** Reads every word of its argument; returns the sequence. */
    @Rpc
    long read(BenchPages pages);
}
