package dev.rackcall.cli.top;

import dev.rackcall.rpc.RpcServer;
import dev.rackcall.samples.quickstart.Door;
import dev.rackcall.shm.pool.TwoHosts;
import java.net.URI;
import java.nio.file.Path;

/**
 * A process that serves {@link Door} at the channel that it is given, and if there is a second argument at that address or, as
 * its first host, in the pool at that path. It prints the address and then "serving".
 */
final class TopServerChild {
    private TopServerChild() {}

    /** The program. */
    public static void main(String[] arguments) throws InterruptedException {
        RpcServer.Builder builder = RpcServer.builder().service(Door.class, Door.Guest::name, arguments[0]);
        if (arguments.length > 1 && arguments[1].startsWith("/")) {
            builder.pool(TwoHosts.host(Path.of(arguments[1]), 0));
        } else if (arguments.length > 1) {
            builder.listen(URI.create(arguments[1]));
        }
        RpcServer server = builder.start();
        server.addresses().forEach(System.out::println);
        System.out.println("serving");
        server.awaitTermination();
    }
}
