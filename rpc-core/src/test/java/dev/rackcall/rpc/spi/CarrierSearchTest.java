package dev.rackcall.rpc.spi;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.URI;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Iterator;
import java.util.ServiceConfigurationError;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class CarrierSearchTest {
    private record Named(String scheme) implements CarrierProvider {
        @Override
        public Greeted connect(URI address, Memory memory, ByteBuffer hello, int publications, Duration timeout) {
            throw new UnsupportedOperationException();
        }

        @Override
        public Listener listen(URI address, Reception reception) {
            throw new UnsupportedOperationException();
        }
    }

    /**
     * Of a loader.
     *
     * @param schemes an empty one is of a provider that lacks a class
     */
    private static Iterator<CarrierProvider> loader(Stream<String> schemes) {
        Iterator<String> each = schemes.iterator();
        return new Iterator<>() {
            @Override
            public boolean hasNext() {
                return each.hasNext();
            }

            @Override
            public CarrierProvider next() {
                String scheme = each.next();
                if (scheme.isEmpty()) {
                    throw new ServiceConfigurationError("no such class");
                }
                return new Named(scheme);
            }
        };
    }

    @Test
    void shouldPassOverThoseThatLackWhatTheyNeed() {
        assertThat(CarrierSearch.first(loader(Stream.of("a", "", "b")), "b")).contains(new Named("b"));
        assertThat(CarrierSearch.first(loader(Stream.of("a", "")), "b")).isEmpty();
    }

    @Test
    void shouldNotAskForEverALoaderThatDoesNotGetOn() {
        assertThat(CarrierSearch.first(loader(Stream.generate(() -> "")), "b")).isEmpty();
    }
}
