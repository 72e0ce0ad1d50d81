package dev.rackcall.spring.shop.client;

import dev.rackcall.spring.RpcClient;
import dev.rackcall.spring.shop.Cart;
import java.util.function.IntSupplier;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.context.annotation.Bean;

/** An application that calls. */
@SpringBootApplication
public class ShopClient {
    static void main(String[] args) {
        SpringApplication.run(ShopClient.class, args);
    }

    @Bean
    IntSupplier checkingOut(@RpcClient Cart cart) {
        return cart::checkOut;
    }
}
