package dev.rackcall.samples.spring.client;

import dev.rackcall.samples.spring.Cart;
import dev.rackcall.spring.RpcClient;
import org.springframework.boot.ApplicationRunner;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.context.annotation.Bean;

/** An application that calls. */
@SpringBootApplication
public class ShopClient {
    static void main(String[] args) {
        SpringApplication.run(ShopClient.class, args);
    }

    /** Puts the program's arguments into the cart. */
    @Bean
    ApplicationRunner shopping(@RpcClient Cart cart) {
        return arguments -> arguments
                .getNonOptionArgs()
                .forEach(good -> System.out.println(good + " is number " + cart.put(good) + " in the cart"));
    }
}
