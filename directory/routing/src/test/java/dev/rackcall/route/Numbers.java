package dev.rackcall.route;

import dev.rackcall.rpc.Rpc;
import dev.rackcall.rpc.RpcService;
import dev.rackcall.rpc.contract.Library;
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

    /** 0, 1, 2, and so on: more than one answer holds. */
    @Rpc
    Stream<Long> upTo(long end);

    /** Answers after a moment in which its thread does nothing else. */
    @Rpc
    CompletableFuture<String> whoAfterANap();

    /** Answers when the test lets it. */
    @Rpc
    CompletableFuture<String> slow();

    @Rpc
    long sum(Library.Page first);
}
