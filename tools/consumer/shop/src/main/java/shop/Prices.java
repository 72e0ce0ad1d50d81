package shop;

import dev.rackcall.rpc.Rpc;
import dev.rackcall.rpc.RpcService;

/** A user's service. */
@RpcService("/shop/prices")
public interface Prices {
    @Rpc
    int of(String good);
}
