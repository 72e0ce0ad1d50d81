package dev.rackcall.samples.pages;

import dev.rackcall.rpc.Rpc;
import dev.rackcall.rpc.RpcService;

/** A shop's cart. */
@RpcService("/shop/cart")
public interface Cart {
    /** Returns how many goods the cart then has. */
    @Rpc
    int put(String good);

    /** The process that serves it. */
    @Rpc
    long servedBy();
}
