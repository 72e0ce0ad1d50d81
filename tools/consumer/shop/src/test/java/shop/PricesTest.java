package shop;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.rackcall.junit.RackcallExtension;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

class PricesTest {
    @RegisterExtension
    final RackcallExtension rackcall = RackcallExtension.serving(Prices.class, () -> good -> 10 * good.length());

    @Test
    void shouldTellThePriceOfTea(Prices prices) {
        assertEquals(30, prices.of("tea"));
    }
}
