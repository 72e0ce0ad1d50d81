package dev.rackcall.perf.isolation;

import dev.rackcall.shm.types.Shared;
import dev.rackcall.shm.types.SharedLongArray;

/** An argument of whole pages: a head and one array that fills the rest. */
@Shared
public interface BenchPages {
    long sequence();

    void sequence(long value);

    SharedLongArray words();

    void words(SharedLongArray value);
}
