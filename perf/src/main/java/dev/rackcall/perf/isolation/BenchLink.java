package dev.rackcall.perf.isolation;

import dev.rackcall.shm.Ref;
import dev.rackcall.shm.types.Shared;

/** A node of a list that is walked inside and outside a sandbox. */
@Shared
interface BenchLink {
    long value();

    void value(long value);

    Ref<BenchLink> next();

    void next(Ref<BenchLink> next);

    boolean next(BenchLink into);
}
