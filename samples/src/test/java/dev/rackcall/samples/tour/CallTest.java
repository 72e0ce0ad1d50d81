package dev.rackcall.samples.tour;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.rackcall.junit.CallFaults;
import dev.rackcall.junit.RackcallExtension;
import dev.rackcall.rpc.CallOptions;
import dev.rackcall.rpc.RpcChannel;
import dev.rackcall.rpc.RpcException;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** How a service is tested: the guide shows this file. */
class CallTest {
    @RegisterExtension
    final RackcallExtension rackcall = RackcallExtension.serving(Call.class, Call.Shelf::new);

    @Test
    void shouldFindWhatIsThere(Call shelf) {
        assertThat(shelf.find("tea").cents()).isEqualTo(350);
        assertThatThrownBy(() -> shelf.find("sugar")).isInstanceOf(RpcException.class);
    }

    @Test
    void shouldGiveUpAtTheDeadline(RpcChannel channel, CallFaults faults) {
        faults.hold("find");
        Call shelf = channel.stub(Call.class, CallOptions.DEFAULT.withTimeout(Duration.ofMillis(20)));
        assertThatThrownBy(() -> shelf.find("tea")).hasMessageContaining("DEADLINE_EXCEEDED");
    }

    @Test
    void shouldGiveUpAfterHalfAnHour(RpcChannel channel, CallFaults faults) {
        faults.hold("find");
        Call shelf = channel.stub(Call.class, CallOptions.DEFAULT.withTimeout(Duration.ofMinutes(30)));
        var call = CompletableFuture.supplyAsync(() -> shelf.find("tea"));
        while (faults.waiting() == 0 && !call.isDone()) {
            Thread.onSpinWait();
        }
        rackcall.advanceClock(Duration.ofMinutes(30));
        assertThatThrownBy(call::join).hasMessageContaining("DEADLINE_EXCEEDED");
    }
}
