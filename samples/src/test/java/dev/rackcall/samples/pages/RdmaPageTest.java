package dev.rackcall.samples.pages;

import static org.assertj.core.api.Assertions.assertThat;

import dev.rackcall.cp.HostId;
import dev.rackcall.cp.Tenant;
import dev.rackcall.cp.agent.Agent;
import dev.rackcall.cp.agent.AgentOptions;
import dev.rackcall.cp.client.AgentFolder;
import dev.rackcall.cp.meta.MetaDirectory;
import dev.rackcall.cp.meta.MetaServer;
import dev.rackcall.directory.Directory;
import dev.rackcall.rdma.RdmaSettings;
import dev.rackcall.rdma.queue.QueueSettings;
import dev.rackcall.rpc.Route;
import dev.rackcall.rpc.RpcChannel;
import dev.rackcall.rpc.RpcException;
import dev.rackcall.rpc.RpcServer;
import dev.rackcall.rpc.Status;
import dev.rackcall.testkit.Await;
import dev.rackcall.verbs.Devices;
import dev.rackcall.verbs.soft.SoftOptions;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The pages on calls over RDMA and on directories. */
class RdmaPageTest {
    @TempDir
    private Path folder;

    @AfterEach
    void forgetCertificates() {
        RdmaSettings.softwareDevices(SoftOptions.local());
    }

    private RpcServer serve(URI address) {
        RdmaSettings.tls( // clients do the same with their own files
                folder.resolve("server.pem"), folder.resolve("server.key"), folder.resolve("authority.pem"));
        return RpcServer.builder()
                .runtimeFolder(folder)
                .service(Cart.class, new CartService())
                .listen(address) // beside shared memory, for the same services: soft://0.0.0.0:18515
                .start();
    }

    private static RpcChannel open(URI address) {
        return RpcChannel.builder("/shop/cart")
                .address(address) // soft://host-a:18515
                .connectTimeout(Duration.ofMinutes(1)) // instead of 5 s
                .open();
    }

    @Test
    void shouldCallWithCertificates() throws Exception {
        Certificates.make(folder);
        try (RpcServer server = serve(URI.create("soft://127.0.0.1:0"));
                RpcChannel channel = open(server.addresses().getFirst())) {
            assertThat(channel.stub(Cart.class).put("tea")).isEqualTo(1);
        }
    }

    private Tenant join(Directory opened) {
        MetaDirectory names = MetaDirectory.follow(opened); // a Directory; finds the meta server also after a restart
        AgentOptions options = AgentOptions.of(HostId.named("b")).withMeta(names);
        Tenant tenant = AgentFolder.join(folder, "shop", () -> Agent.open(Devices.find("soft:b"), options));
        QueueSettings.use(tenant);
        return tenant;
    }

    @Test
    void shouldCallOverVirtualQueues() {
        try (MetaServer meta = MetaServer.open(Devices.find("soft:meta"), 16);
                Directory directory = Directory.open(folder.resolve("names").toUri());
                MetaDirectory announced = MetaDirectory.follow(directory)) {
            announced.announce(meta.address(), "meta");
            Tenant tenant = join(directory);
            try {
                Await.until("the meta server to know the agent of host b", this::isKnownAndCalled);
            } finally {
                QueueSettings.forget(tenant);
                tenant.close();
            }
        }
    }

    private boolean isKnownAndCalled() {
        try {
            callOverVirtualQueues();
            return true;
        } catch (RpcException e) {
            assertThat(e.code()).as("%s", e).isEqualTo(Status.Code.UNAVAILABLE);
            return false;
        }
    }

    private void callOverVirtualQueues() {
        RpcServer server = RpcServer.builder() // at host b
                .runtimeFolder(folder)
                .service(Cart.class, new CartService())
                .listen(URI.create("vq://b:7"))
                .start();
        try (server) {
            assertThat(server.addresses()).containsExactly(URI.create("vq://b:7"));
            RpcChannel channel = RpcChannel.builder("/shop/cart") // at another host
                    .address(URI.create("vq://b:7"))
                    .open();
            try (channel) {
                assertThat(channel.stub(Cart.class).put("tea")).isEqualTo(1);
            }
        }
    }

    private RpcServer serve(URI address, URI directory) {
        RdmaSettings.tls(folder.resolve("server.pem"), folder.resolve("server.key"), folder.resolve("authority.pem"));
        return RpcServer.builder()
                .runtimeFolder(folder)
                .service(Cart.class, new CartService())
                .listen(address) // soft://10.0.0.1:18515, for hosts that share no memory with this one
                .directory(directory) // zk://zk1:2181,zk2:2181,zk3:2181, or file:///a/folder for one host
                .start();
    }

    private static RpcChannel openByName(URI directory) {
        return RpcChannel.builder("/shop/cart").directory(directory).open();
    }

    @Test
    void shouldFindAServerByItsName() throws Exception {
        Certificates.make(folder);
        URI directory = folder.resolve("names").toUri();
        try (RpcServer _ = serve(URI.create("soft://127.0.0.1:0"), directory);
                RpcChannel channel = openByName(directory)) {
            assertThat(channel.stub(Cart.class).put("tea")).isEqualTo(1);
            assertThat(channel.routes()).extracting(Route::kind).contains(Route.Kind.TCP);
        }
        // A server that closes waits for its withdrawal for a second at most.
        Await.deleted(folder.resolve("names"));
    }
}
