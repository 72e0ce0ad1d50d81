package dev.rackcall.samples.spring;

import dev.rackcall.rpc.Rpc;
import dev.rackcall.rpc.RpcService;

/** What both applications know. */
@RpcService("/shop/cart")
public interface Cart {
    @Rpc
    int put(String good);
}
