package dev.rackcall.perf.calls;

import dev.rackcall.shm.types.Shared;
import dev.rackcall.shm.types.SharedList;

/** A node of the pointer-rich argument. */
@Shared
interface BenchNode {
    long sequence();

    void sequence(long value);

    String text();

    void text(String value);

    SharedList<BenchNode> children();

    void children(SharedList<BenchNode> value);
}
