package dev.rackcall.perf.calls;

import dev.rackcall.rpc.Rpc;
import dev.rackcall.rpc.RpcService;
import java.util.concurrent.CompletableFuture;

/** The measured service. Its handlers only show that the argument arrived. */
@RpcService(BenchCalls.CHANNEL)
interface BenchCalls {
    String CHANNEL = "/bench/calls";

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

    final class Handlers implements BenchCalls {
        @Override
        public long noop(long sequence) {
            return sequence;
        }

        @Override
        public CompletableFuture<Long> noopLater(long sequence) {
            return CompletableFuture.completedFuture(sequence);
        }

        @Override
        public byte[] echo(byte[] payload) {
            return payload;
        }

        @Override
        public long touch(BenchNode root) {
            return root.sequence();
        }
    }
}
