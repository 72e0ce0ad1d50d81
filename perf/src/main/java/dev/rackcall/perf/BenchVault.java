package dev.rackcall.perf;

import dev.rackcall.rpc.Rpc;
import dev.rackcall.rpc.RpcService;

/** The service whose calls are measured in each isolation mode. */
@RpcService("/bench/vault")
interface BenchVault {
    /** Looks at the head of its argument only; returns the sequence, and what it found there. */
    @Rpc
    long touch(BenchPages pages, long sequence);

    /** As {@link #touch}, but reads every word of its argument. */
    @Rpc
    long read(BenchPages pages, long sequence);
}
