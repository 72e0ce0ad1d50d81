package dev.rackcall.junit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.rackcall.rpc.RpcChannel;
import dev.rackcall.rpc.RpcException;
import dev.rackcall.rpc.Status;
import dev.rackcall.shm.OutOfArenaException;
import dev.rackcall.shm.Scope;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** An arena that a test really fills. */
class FullArenaTest {
    private static final String LONG = "x".repeat(1000);

    @RegisterExtension
    final RackcallExtension rackcall =
            RackcallExtension.serving(Cart.class, Cart.Basket::new).channel(channel -> channel.arenaQuota(65_536));

    @Test
    void shouldFillTheArena(Cart cart, RpcChannel channel) {
        assertThat(cart.put(LONG)).isEqualTo(1);
        try (Scope scope = channel.newScope()) {
            assertThatThrownBy(() -> Stream.generate(() -> scope.allocate(256)).forEach(_ -> {}))
                    .isInstanceOf(OutOfArenaException.class);
            assertThat(catchThrowableOfType(RpcException.class, () -> cart.put(LONG))
                            .code())
                    .isEqualTo(Status.Code.RESOURCE_EXHAUSTED);
        }
        assertThat(cart.put(LONG)).isEqualTo(2);
    }
}
