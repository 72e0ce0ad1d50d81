package shop;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import dev.rackcall.spring.RpcClient;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.test.context.DynamicPropertyRegistry;
import org.springframework.test.context.DynamicPropertySource;

/** Starts the application, and calls its server. */
@SpringBootTest
class PriceServerTest {
    @TempDir
    static Path folder;

    @RpcClient
    Prices prices;

    @DynamicPropertySource
    static void useFolder(DynamicPropertyRegistry properties) {
        properties.add("rackcall.runtime-folder", () -> folder);
    }

    @Test
    void shouldServeTheHandler() {
        assertFalse(prices instanceof PriceList);
        assertEquals(30, prices.of("tea"));
    }
}
