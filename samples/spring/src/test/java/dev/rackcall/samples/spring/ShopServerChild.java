package dev.rackcall.samples.spring;

import dev.rackcall.samples.spring.server.ShopServer;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import org.springframework.boot.SpringApplication;
import org.springframework.context.ConfigurableApplicationContext;

/**
 * A process that runs {@link ShopServer} with a {@link GoldBasket}. It prints "serving". It answers "count" with "begun"
 * and the number of calls that have begun to wait. On "pay", these calls end. It ends at the end of its input.
 */
final class ShopServerChild {
    private ShopServerChild() {}

    static void main(String[] arguments) throws IOException {
        try (ConfigurableApplicationContext context =
                        SpringApplication.run(new Class<?>[] {ShopServer.class, GoldBasket.Exchange.class}, arguments);
                BufferedReader input = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8))) {
            GoldBasket basket = context.getBean(GoldBasket.class);
            System.out.println("serving");
            for (String line = input.readLine(); line != null; line = input.readLine()) {
                if (line.equals("pay")) {
                    basket.paid.countDown();
                } else {
                    System.out.println("begun " + basket.begun.get());
                }
            }
        }
    }
}
