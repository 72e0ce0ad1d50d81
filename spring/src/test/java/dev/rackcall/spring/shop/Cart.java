package dev.rackcall.spring.shop;

import dev.rackcall.rpc.Rpc;
import dev.rackcall.rpc.RpcService;

/** What the server serves and the client calls. */
@RpcService("/spring/cart")
public interface Cart {
    @Rpc
    int put(String good);

    /** Ends when the test lets it. */
    @Rpc
    int checkOut();
}
