package dev.rackcall.samples.spring.client;

import dev.rackcall.rpc.RpcChannel;
import dev.rackcall.samples.spring.Cart;
import dev.rackcall.spring.RpcClient;
import org.springframework.stereotype.Component;

/** Gets its stub, and the channel, in its constructor, and another stub in a field. */
@Component
public class Checkout {
    public final Cart cart;
    public final RpcChannel channel;

    @RpcClient("${shop.cart:/shop/cart}")
    public Cart field;

    Checkout(@RpcClient Cart cart, @RpcClient("/shop/cart") RpcChannel channel) {
        this.cart = cart;
        this.channel = channel;
    }
}
