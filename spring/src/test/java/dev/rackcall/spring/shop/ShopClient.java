package dev.rackcall.spring.shop;

import dev.rackcall.spring.RpcClient;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;

/** An application that calls. */
@Configuration(proxyBeanMethods = false)
@EnableAutoConfiguration
@Import(ShopClient.Checkout.class)
public class ShopClient {
    /** Has a stub. */
    public static class Checkout {
        public final Cart cart;

        @RpcClient
        public Cart field;

        Checkout(@RpcClient Cart cart) {
            this.cart = cart;
        }
    }
}
