package dev.rackcall.rpc.contract;

import static org.assertj.core.api.Assertions.assertThat;

import dev.rackcall.rpc.RpcChannel;
import dev.rackcall.rpc.RpcServer;
import dev.rackcall.testkit.Await;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/** Versions over shared memory. */
class MemoryEvolutionTest extends EvolutionTest {
    private static final Duration BOUND = Duration.ofSeconds(60);

    private RpcServer start(Generation generation) {
        return serve(generation.serve(place(RpcServer.builder())));
    }

    /** Two servers of one name are replaced one after the other, and one is rolled back, while old and new clients call. */
    @Test
    void shouldUpgradeServersOneByOneWithoutAFailedCall() {
        RpcServer first = start(older());
        RpcServer second = start(older());
        Load load = Load.withoutFailure();
        load.start(older(), openChannel());
        load.start(newer(), openChannel());
        load.awaitMore();
        for (Generation next : new Generation[] {newer(), newer(), older()}) {
            RpcServer third = start(next);
            load.awaitMore();
            assertThat(first.shutdown(BOUND)).isTrue();
            first = second;
            second = third;
            load.awaitMore();
        }
        load.end();
    }

    @Test
    void shouldCallAServerThatHasTheMethod() {
        start(older());
        start(newer());
        RpcChannel channel = openChannel();
        Await.equal("connected servers", 2, () -> channel.routes().size());
        Generation.Client newClient = newer().client(channel);
        Generation.Client oldClient = older().client(openChannel());
        for (int i = 0; i < 50; i++) {
            assertThat(newClient.call("about", i)).isEqualTo("" + -i);
            assertThat(oldClient.call("former", i)).isEqualTo("former " + i);
        }
    }
}
