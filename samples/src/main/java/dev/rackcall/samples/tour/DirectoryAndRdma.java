package dev.rackcall.samples.tour;

import dev.rackcall.rpc.Route;
import dev.rackcall.rpc.Rpc;
import dev.rackcall.rpc.RpcChannel;
import dev.rackcall.rpc.RpcServer;
import dev.rackcall.rpc.RpcService;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * A directory names the server, and the channel takes the best route to it, which here is memory. A second channel
 * names the server's RDMA address directly; on a host without an RDMA device, that address uses the software device
 * over TCP.
 */
@RpcService("/samples/directory")
public interface DirectoryAndRdma {
    @Rpc
    String greet(String name);

    static void main(String[] args) throws IOException {
        Path folder = Files.createTempDirectory("rackcall-sample-");
        folder.toFile().deleteOnExit(); // if it is empty: a server that closes does not wait long for the directory
        URI directory = folder.resolve("names").toUri(); // zk://host:2181,host:2181 for a cluster
        try (RpcServer server = RpcServer.builder()
                .runtimeFolder(folder.resolve("runtime"))
                .directory(directory)
                .host("host-a")
                .listen(URI.create("rdma://127.0.0.1:0"))
                .service(DirectoryAndRdma.class, name -> "hello, " + name)
                .start()) {
            try (RpcChannel channel = RpcChannel.builder("/samples/directory")
                    .directory(directory)
                    .host("host-b")
                    .open()) {
                System.out.println(channel.stub(DirectoryAndRdma.class).greet("host-b"));
                for (Route route : channel.routes()) {
                    System.out.println(route.kind() + ": " + route.state() + ", " + route.reason());
                }
            }
            try (RpcChannel channel = RpcChannel.builder("/samples/directory")
                    .address(server.addresses().getFirst())
                    .open()) {
                System.out.println(channel.stub(DirectoryAndRdma.class).greet("RDMA"));
            }
        }
    }
}
