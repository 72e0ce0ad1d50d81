package dev.rackcall.samples.pages;

import dev.rackcall.rpc.Rpc;
import dev.rackcall.rpc.RpcService;

/** What a shop has left. */
@RpcService("/shop/stock")
public interface Stock {
    @Rpc
    int left(String good);
}
