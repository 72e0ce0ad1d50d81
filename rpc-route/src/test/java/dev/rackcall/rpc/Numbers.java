package dev.rackcall.rpc;

import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;

/** A service whose servers can be told apart. */
@RpcService("/test/numbers")
public interface Numbers {
    /** Which server this is. */
    @Rpc
    String who();

    @Rpc(idempotent = true)
    String whoAgain();

    @Rpc(idempotent = true)
    CompletableFuture<String> whoLater();

    @Rpc(idempotent = true)
    Stream<String> whoStreamed();

    /** Takes that long. */
    @Rpc
    CompletableFuture<String> slow(int millis);

    @Rpc
    long sum(Library.Page first);
}
