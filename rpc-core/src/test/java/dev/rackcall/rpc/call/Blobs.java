package dev.rackcall.rpc.call;

import dev.rackcall.rpc.Isolation;
import dev.rackcall.rpc.Rpc;
import dev.rackcall.rpc.RpcService;
import dev.rackcall.shm.types.Shared;
import dev.rackcall.shm.types.SharedBytes;
import java.util.concurrent.CompletableFuture;

/** Takes bytes and writes them somewhere. */
@RpcService("/test/blobs")
public interface Blobs {
    /** Some bytes. */
    @Shared
    interface Blob {
        SharedBytes data();

        void data(SharedBytes value);
    }

    @Rpc(isolation = Isolation.TRUSTED)
    CompletableFuture<Long> write(Blob blob);
}
