package dev.rackcall.rpc.containers;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import dev.rackcall.rpc.contract.Echo;
import dev.rackcall.rpc.contract.RpcFixture;
import dev.rackcall.testkit.Await;
import dev.rackcall.testkit.ChildJvm;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Optional;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

class ContainersTest extends RpcFixture {
    @BeforeAll
    static void requireContainers() throws InterruptedException {
        Optional<String> missing = Container.missing();
        missing.ifPresent(reason -> System.err.println("SKIPPED ContainersTest: " + reason));
        assumeThat(missing).isEmpty();
    }

    @Test
    void shouldCallInEveryModeFromAnotherContainer() throws Exception {
        ChildJvm server = serveInContainer();
        ChildJvm client = keep(keep(new Container()).start(Guest.Role.CLIENT, directory));

        assertThat(client.awaitLine("TRUSTED")).isEqualTo("TRUSTED 42");
        assertThat(client.awaitLine("SNAPSHOT")).isEqualTo("SNAPSHOT 42");
        assertThat(client.awaitLine("AUTO")).isEqualTo("AUTO 42");
        assertThat(client.awaitLine("SEALED")).isEqualTo("SEALED 42");
        client.awaitLine("calling");
        assertThat(client.end()).isZero();
        assertThat(server.end()).isZero();
        assertThat(directory.toFile().list()).isNullOrEmpty();
    }

    @Test
    void shouldForgetAContainerThatIsKilled() throws Exception {
        ChildJvm server = serveInContainer();
        ChildJvm survivor = callInContainer();
        int before = connections(server);
        ChildJvm doomed = callInContainer();
        assertThat(connections(server)).isGreaterThan(before);

        doomed.kill();

        Await.equal("connections to the server", before, () -> connections(server));
        assertThat(survivor.isAlive()).isTrue();
        assertThat(callInContainer().end()).isZero();
        assertThat(survivor.end()).isZero();
    }

    @Test
    void shouldGoOnWithAnotherContainersServerWhenOneIsKilled() throws Exception {
        ChildJvm doomed = serveInContainer();
        Echo echo = connect(Echo.class);
        assertThat(echo.add(1, 2)).isEqualTo(3);

        doomed.kill();
        serveInContainer();

        assertThat(echo.add(3, 4)).isEqualTo(7);
    }

    private ChildJvm serveInContainer() throws InterruptedException {
        ChildJvm server = keep(keep(new Container()).start(Guest.Role.SERVER, directory));
        assertThat(server.awaitLine("serving")).isEqualTo("serving as process 1");
        return server;
    }

    private ChildJvm callInContainer() throws InterruptedException {
        ChildJvm client = keep(keep(new Container()).start(Guest.Role.CLIENT, directory));
        client.awaitLine("calling");
        return client;
    }

    private static int connections(ChildJvm server) {
        try {
            server.send("how many");
            return Integer.parseInt(server.awaitLine("connections ").substring("connections ".length()));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }
}
