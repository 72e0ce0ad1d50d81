package dev.rackcall.cli.top;

import dev.rackcall.rpc.RpcServer;
import dev.rackcall.samples.quickstart.Door;

/** A process that serves {@link Door} at the channel that it is given. It prints "serving". */
final class TopServerChild {
    private TopServerChild() {}

    /** The program. */
    public static void main(String[] arguments) throws InterruptedException {
        RpcServer server = RpcServer.builder()
                .service(Door.class, Door.Guest::name, arguments[0])
                .start();
        System.out.println("serving");
        server.awaitTermination();
    }
}
