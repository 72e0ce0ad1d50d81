package dev.rackcall.rpc.servers;

import dev.rackcall.rpc.Rpc;
import dev.rackcall.rpc.RpcService;
import dev.rackcall.shm.types.Shared;

/** A service whose servers can be told apart: each method returns the server's pid. */
@RpcService("/test/till")
interface Till {
    /** A number in shared memory. */
    @Shared
    interface Coin {
        long value();

        void value(long value);
    }

    @Rpc
    long pid();

    @Rpc(idempotent = true)
    long pidAgain();

    @Rpc
    long take(Coin coin);

    /** Does not return in the process with that pid. */
    @Rpc
    long stickIn(long pid);

    /** As {@link #stickIn}, but may be repeated. */
    @Rpc(idempotent = true)
    long stickInAgain(long pid);

    /** Takes this many milliseconds. */
    @Rpc
    long work(long millis);
}
