package dev.rackcall.junit;

import dev.rackcall.rpc.Rpc;
import dev.rackcall.rpc.RpcService;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;

/** Calls of all kinds, which do not end by themselves. */
@RpcService("/test/clerk")
public interface Clerk {
    @Rpc
    int serve(String good);

    @Rpc
    CompletableFuture<Integer> serveLater(String good);

    @Rpc
    Stream<Integer> list();

    @Rpc
    int count(Stream<Integer> goods);
}
