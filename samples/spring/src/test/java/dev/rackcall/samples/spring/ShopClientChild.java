package dev.rackcall.samples.spring;

import dev.rackcall.rpc.RpcException;
import dev.rackcall.samples.spring.client.Checkout;
import dev.rackcall.samples.spring.client.ShopClient;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.function.IntSupplier;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.health.contributor.HealthIndicator;
import org.springframework.context.ConfigurableApplicationContext;

/**
 * A process that runs {@link ShopClient}. It prints "ready". Each line of its input is a command; the answer begins with
 * the command and ends with a result or the code of a failure. "gold" is answered when that call has ended. It ends
 * at the end of its input.
 */
final class ShopClientChild {
    private ShopClientChild() {}

    static void main(String[] arguments) throws IOException {
        try (ConfigurableApplicationContext context = SpringApplication.run(ShopClient.class, arguments);
                BufferedReader input = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8))) {
            Cart cart = context.getBean(Checkout.class).cart;
            HealthIndicator health = context.getBean("rackcallHealthIndicator", HealthIndicator.class);
            System.out.println("ready");
            for (String line = input.readLine(); line != null; line = input.readLine()) {
                switch (line) {
                    case "put" -> answer("put", () -> cart.put("tea"));
                    case GoldBasket.GOLD ->
                        Thread.ofPlatform()
                                .daemon()
                                .start(() -> answer(GoldBasket.GOLD, () -> cart.put(GoldBasket.GOLD)));
                    default -> System.out.println("health " + health.health().getStatus());
                }
            }
        }
    }

    private static void answer(String command, IntSupplier call) {
        String result;
        try {
            result = Integer.toString(call.getAsInt());
        } catch (RpcException e) {
            result = e.code().name();
        }
        System.out.println(command + " " + result);
    }
}
