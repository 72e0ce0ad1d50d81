package dev.rackcall.shm.sample;

import dev.rackcall.shm.types.Shared;
import dev.rackcall.shm.types.Since;

/** Objects of its three versions have 16, 32 and 40 bytes. */
@Shared
public interface Release {
    long id();

    Release id(long value);

    @Since(2)
    long size();

    Release size(long value);

    @Since(2)
    long stamp();

    Release stamp(long value);

    @Since(3)
    String note();

    Release note(String value);
}
