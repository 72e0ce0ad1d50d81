package dev.rackcall.perf.isolation;

import dev.rackcall.rpc.Rpc;
import dev.rackcall.rpc.RpcService;
import dev.rackcall.shm.types.SharedLongArray;

/** The service whose calls are measured in each isolation mode. */
@RpcService(BenchVault.CHANNEL)
public interface BenchVault {
    String CHANNEL = "/bench/vault";

    /** Reads the head of its argument only; returns the sequence plus the value there. */
    @Rpc
    long touch(BenchPages pages, long sequence);

    /** As {@link #touch}, but reads every word of its argument. */
    @Rpc
    long read(BenchPages pages, long sequence);

    final class Handlers implements BenchVault {
        private long read;

        @Override
        public long touch(BenchPages pages, long sequence) {
            return pages.sequence() + sequence;
        }

        @Override
        public long read(BenchPages pages, long sequence) {
            long sum = sum(pages.words());
            read = sum;
            return pages.sequence() + sequence + (read - sum);
        }

        private static long sum(SharedLongArray words) {
            long sum = 0;
            for (int i = 0, n = words.length(); i < n; i++) {
                sum += words.get(i);
            }
            return sum;
        }
    }
}
