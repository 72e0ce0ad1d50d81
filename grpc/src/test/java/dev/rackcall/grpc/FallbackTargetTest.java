package dev.rackcall.grpc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.grpc.Grpc;
import io.grpc.TlsChannelCredentials;
import java.net.URI;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class FallbackTargetTest {
    private static final URI CART = URI.create("dns:///cart.internal:8443");

    @ParameterizedTest
    @CsvSource({
        "rackcall:///shop/cart?fallback=dns:///cart.internal:8443, rackcall:///shop/cart",
        "rackcall:///shop/cart?fallback=dns%3A%2F%2F%2Fcart.internal%3A8443, rackcall:///shop/cart",
        "rackcall:///shop/cart?folder=/run/a&fallback=dns:///cart.internal:8443, rackcall:///shop/cart?folder=/run/a",
        "rackcall:///shop/cart?fallback=dns:///cart.internal:8443&folder=/run/a, rackcall:///shop/cart?folder=/run/a",
        "rackcall:///a?directory=zk://h:1/f?lease=3s&timeout=2s&fallback=dns:///cart.internal:8443,"
                + " rackcall:///a?directory=zk://h:1/f?lease=3s&timeout=2s",
    })
    void shouldSplitTargets(String target, String rest) {
        assertThat(FallbackTarget.split(target)).isEqualTo(new FallbackTarget(rest, Optional.of(CART)));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "rackcall:///shop/cart",
                "rackcall:///shop/cart?folder=/a&b",
                "rackcall:///shop/cart?directory=zk://h:1/f?lease=3s&timeout=2s",
                "other:///shop/cart?fallback=dns:///cart.internal:8443",
                "not a URI"
            })
    void shouldLeaveOtherTargetsAsTheyAre(String target) {
        assertThat(FallbackTarget.split(target)).isEqualTo(new FallbackTarget(target, Optional.empty()));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "rackcall:///shop/cart?fallback=|the scheme null of the fallback",
                "rackcall:///shop/cart?fallback=cart.internal:8443|such as dns:///cart.internal:8443",
                "rackcall:///shop/cart?fallback=nosuch:///cart|the scheme nosuch of the fallback nosuch:///cart",
                "rackcall:///shop/cart?fallback=%20|is not a URI",
                "rackcall:///shop/cart?fallback=dns:///%|characters that a URI does not allow",
                "rackcall:///shop/cart?fallback=rackcall:///shop/other|is a Rackcall channel",
                "rackcall:///shop/cart?fallback=dns:///a&fallback=dns:///b|name one fallback",
                "rackcall:///shop/cart?folder=/a&nosuch=1&fallback=dns:///b|at most one other parameter",
                "rackcall:///a?directory=zk://h:1/f?lease=3s&nosuch=1&fallback=dns:///b|'nosuch=1' in the directory",
                "rackcall:///shop/cart?nosuch=1&fallback=dns:///b|has the query nosuch=1; only",
                "rackcall:///shop/cart?falback=dns:///b|fallback=dns:///host:port are known",
                "rackcall:///shop/cart?address=soft://h:1&fallback=dns:///b|names a server's address",
                "rackcall:///shop/cart?fallback=dns:cart|the fallback dns:cart is malformed: targetPath; write",
                "rackcall:///shop/cart?fallback=dns:///a:b:c|the fallback dns:///a:b:c is malformed",
            })
    void shouldRefuseWhatItDoesNotUnderstand(String target, String why) {
        assertThatThrownBy(() -> RackcallChannelBuilder.forTarget(target).build())
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining(why);
    }

    @Test
    void shouldRefuseAFallbackThatTheTargetsResolverDoesNotKnow() {
        assertThatThrownBy(() -> RackcallChannelBuilder.forTarget("other:///a").fallback("dns:///a"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("has a name resolver of its own");
    }

    @Test
    void shouldNotTakeTlsFromAFallback() {
        assertThatThrownBy(
                        () -> Grpc.newChannelBuilder("rackcall:///a?fallback=dns:///a", TlsChannelCredentials.create())
                                .usePlaintext())
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("TlsChannelCredentials");
    }
}
