package dev.rackcall.samples.grpc.helloworld;

import static org.assertj.core.api.Assertions.assertThat;

import dev.rackcall.grpc.RackcallChannelBuilder;
import dev.rackcall.grpc.RackcallServerBuilder;
import dev.rackcall.grpc.RackcallSocketAddress;
import dev.rackcall.rdma.RdmaSettings;
import dev.rackcall.samples.grpc.helloworld.HelloWorldServer.Greeter;
import dev.rackcall.samples.grpc.helloworld.proto.GreeterGrpc;
import dev.rackcall.samples.grpc.helloworld.proto.HelloRequest;
import dev.rackcall.testkit.Await;
import dev.rackcall.testkit.TestCertificate;
import dev.rackcall.verbs.soft.SoftOptions;
import io.grpc.ManagedChannel;
import io.grpc.Server;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What the page on gRPC shows. */
class GrpcPageTest {
    private static final URI ANY_PORT = URI.create("soft://127.0.0.1:0");

    @TempDir
    private Path folder;

    @BeforeEach
    void makeCertificates() throws IOException {
        TestCertificate made = TestCertificate.make(folder, "server");
        Files.copy(made.certificate(), folder.resolve("server.pem"));
        Files.copy(made.certificate(), folder.resolve("authority.pem"));
    }

    @AfterEach
    void forgetCertificates() {
        RdmaSettings.softwareDevices(SoftOptions.local());
    }

    private static void requireThatItGreets(GreeterGrpc.GreeterBlockingStub greeter) {
        // On a busy machine, an attempt to connect may take too long; the channel then makes another.
        assertThat(greeter.withWaitForReady()
                        .withDeadlineAfter(100, TimeUnit.SECONDS)
                        .sayHello(HelloRequest.newBuilder().setName("Ada").build())
                        .getMessage())
                .isEqualTo("Hello Ada");
    }

    private static void end(Server server, ManagedChannel channel) throws InterruptedException {
        channel.shutdownNow();
        assertThat(channel.awaitTermination(100, TimeUnit.SECONDS)).isTrue();
        server.shutdownNow();
        assertThat(server.awaitTermination(100, TimeUnit.SECONDS)).isTrue();
    }

    @Test
    void shouldGreetThroughMemory() throws Exception {
        Server server = RackcallServerBuilder.forChannel("/shop/greeter")
                .addService(new Greeter())
                .build()
                .start();

        ManagedChannel channel =
                RackcallChannelBuilder.forChannel("/shop/greeter").build();
        GreeterGrpc.GreeterBlockingStub greeter = GreeterGrpc.newBlockingStub(channel); // call it as before
        requireThatItGreets(greeter);
        channel.shutdownNow();
        channel = RackcallChannelBuilder.forChannel("/shop/greeter")
                .defaultLoadBalancingPolicy("round_robin")
                .build();
        requireThatItGreets(GreeterGrpc.newBlockingStub(channel));
        end(server, channel);
    }

    private Server serve(URI address) throws IOException {
        RdmaSettings.tls( // at both ends, each with its own files
                folder.resolve("server.pem"), folder.resolve("server.key"), folder.resolve("authority.pem"));
        return RackcallServerBuilder.forChannel("/shop/greeter")
                .listen(address) // soft://0.0.0.0:18515
                .addService(new Greeter())
                .build()
                .start();
    }

    private static ManagedChannel open(URI address) {
        return RackcallChannelBuilder.forTarget("rackcall:///shop/greeter?address=" + address) // soft://host-a:18515
                .build();
    }

    @Test
    void shouldGreetBetweenHosts() throws Exception {
        Server server = serve(ANY_PORT);
        URI address = server.getListenSockets().stream()
                .flatMap(each -> ((RackcallSocketAddress) each).remote().stream())
                .findFirst()
                .orElseThrow();
        ManagedChannel channel = open(address);
        requireThatItGreets(GreeterGrpc.newBlockingStub(channel));
        end(server, channel);
    }

    private static Server serve(URI address, URI directory) throws IOException {
        return RackcallServerBuilder.forChannel("/shop/greeter")
                .listen(address)
                .directory(directory) // zk://zk1:2181,zk2:2181,zk3:2181, or file:///a/folder for one host
                .addService(new Greeter())
                .build()
                .start();
    }

    private static ManagedChannel openByName(URI directory) {
        return RackcallChannelBuilder.forDirectory("/shop/greeter", directory) // rackcall:///shop/greeter?directory=...
                .build();
    }

    @Test
    void shouldFindAServerByDirectory() throws Exception {
        URI directory = folder.resolve("names").toUri();
        Server server = serve(ANY_PORT, directory);
        ManagedChannel channel = openByName(directory);
        requireThatItGreets(GreeterGrpc.newBlockingStub(channel));
        end(server, channel);
        // Server and channel may still be leaving the directory.
        Await.deleted(folder.resolve("names"));
    }
}
