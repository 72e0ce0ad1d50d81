package dev.rackcall.spring;

import static org.assertj.core.api.Assertions.assertThat;

import dev.rackcall.spring.shop.ShopClient;
import dev.rackcall.spring.shop.ShopClient.Checkout;
import dev.rackcall.spring.shop.ShopServer;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.boot.SpringApplication;
import org.springframework.context.ConfigurableApplicationContext;

class RackcallStarterTest {
    @TempDir
    private Path folder;

    private ConfigurableApplicationContext run(Class<?> application) {
        return SpringApplication.run(application, "--rackcall.runtime-folder=" + folder);
    }

    @Test
    void shouldCall() {
        try (ConfigurableApplicationContext server = run(ShopServer.class);
                ConfigurableApplicationContext client = run(ShopClient.class)) {
            Checkout checkout = client.getBean(Checkout.class);
            assertThat(checkout.cart.put("tea")).isEqualTo(1);
            assertThat(checkout.field.put("milk")).isEqualTo(2);
        }
    }
}
