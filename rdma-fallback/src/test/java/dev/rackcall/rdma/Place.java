package dev.rackcall.rdma;

import dev.rackcall.rdma.queue.QueueHosts;
import dev.rackcall.rpc.RpcChannel;
import dev.rackcall.rpc.RpcServer;
import dev.rackcall.testkit.Await;
import dev.rackcall.testkit.FreePort;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * Where the servers and clients of a test class are, which share no memory, and what connects them. Exists from before
 * the first test until after the last.
 */
final class Place implements BeforeAllCallback, AfterAllCallback {
    private static final AtomicInteger PORTS = new AtomicInteger();

    private final Opening opening;
    private final Supplier<URI> addresses;
    private AutoCloseable hosts = () -> {};

    @FunctionalInterface
    private interface Opening {
        AutoCloseable open() throws Exception;
    }

    private Place(Opening opening, Supplier<URI> addresses) {
        this.opening = opening;
        this.addresses = addresses;
    }

    /**
     * Over RDMA: the software device, or a real one that has the address of this host in {@code rackcall.rdma.host}.
     */
    static Place rdma() {
        String host = System.getProperty("rackcall.rdma.host", "127.0.0.1");
        return new Place(() -> () -> {}, () -> URI.create("rdma://" + host + ":" + FreePort.find()));
    }

    /** Over virtual queues of agents of this process. */
    static Place queues() {
        return new Place(QueueHosts::open, Place::queueAddress);
    }

    /** Over virtual queues of agents that are other processes. */
    static Place agentProcesses() {
        return new Place(Place::processes, Place::queueAddress);
    }

    private static URI queueAddress() {
        return URI.create("vq://" + QueueHosts.SERVER + ":" + PORTS.incrementAndGet());
    }

    private static AutoCloseable processes() throws IOException, InterruptedException {
        Path parent = Files.createTempDirectory("rackcall-place");
        AgentProcesses agents = new AgentProcesses(parent);
        return () -> {
            agents.close();
            QueueHosts.delete(parent);
        };
    }

    @Override
    public void beforeAll(ExtensionContext context) throws Exception {
        hosts = opening.open();
    }

    @Override
    public void afterAll(ExtensionContext context) throws Exception {
        Await.equal("open hubs", 0, QueueHosts::openHubs);
        hosts.close();
    }

    /** An address that no server has. */
    URI address() {
        return addresses.get();
    }

    static RpcServer.Builder at(URI address, RpcServer.Builder server) {
        // In a guest of the rack, this is the address of a real device.
        return server.listen(address).insecure();
    }

    static RpcChannel.Builder at(URI address, RpcChannel.Builder channel) {
        return channel.address(address).arenaQuota(8 << 20);
    }
}
