package dev.rackcall.perf.isolation;

import dev.rackcall.shm.Ref;
import dev.rackcall.shm.types.Shared;

/** A node of a list that is walked inside and outside a sandbox. */
@Shared
interface BenchListNode {
    long value();

    void value(long value);

    Ref<BenchListNode> next();

    void next(Ref<BenchListNode> next);

    boolean next(BenchListNode into);
}
