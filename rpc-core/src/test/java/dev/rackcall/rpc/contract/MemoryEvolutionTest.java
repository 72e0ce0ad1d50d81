package dev.rackcall.rpc.contract;

import static org.assertj.core.api.Assertions.assertThat;

import dev.rackcall.rpc.RpcChannel;
import dev.rackcall.rpc.RpcServer;
import dev.rackcall.rpc.Status;
import dev.rackcall.testkit.Await;
import dev.rackcall.testkit.ChildJvm;
import org.junit.jupiter.api.Test;

/** Versions over shared memory. */
class MemoryEvolutionTest extends EvolutionTest {
    private RpcServer start(Generation generation) {
        return serve(generation.serve(place(RpcServer.builder())));
    }

    @Test
    void shouldUpgradeServersOneByOneWithoutAFailedCall() throws Exception {
        upgradeOneByOne(generation -> ChildJvm.start(GenerationChild.class, directory, generation.folder()), () -> {});
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

    @Test
    void shouldFindAServerThatHasTheMethodAtOnce() {
        start(older());
        start(newer());
        assertOwnMethodsAreFound();
    }

    @Test
    void shouldFindAServerThatStartsLater() {
        start(older());
        RpcChannel channel = openChannel();
        Generation.Client client = newer().client(channel);
        for (int i = 0; i < 3; i++) {
            assertFails(Status.Code.UNIMPLEMENTED, () -> client.call("about", 1))
                    .hasMessageContaining("long about(long");
        }
        assertThat(channel.routes()).hasSize(1);
        start(newer());
        assertThat(client.call("about", 2)).isEqualTo("-2");
    }
}
