package dev.rackcall.spring;

import dev.rackcall.rpc.Rpc;
import dev.rackcall.rpc.RpcService;

/** What the contexts of the tests serve and call. */
@RpcService("/shop/cart")
interface Cart {
    @Rpc
    int put(String good);
}
