package dev.rackcall.rpc;

import java.io.IOException;
import java.net.URI;

/** A server in a process of its own, on the host whose runtime directory it is given; until its input ends. */
public final class NumbersChild {
    private NumbersChild() {}

    /** Arguments: directory, name. */
    public static void main(String[] args) throws IOException {
        try (RpcServer server = RpcServer.builder()
                .service(Numbers.class, new NumbersService(args[1]))
                .listen(URI.create("rdma://127.0.0.1:0"))
                .arenaQuota(4 << 20)
                .directory(URI.create(args[0]))
                .host("host-of-" + args[1])
                .start()) {
            System.out.println("READY " + server.channels());
            System.in.readAllBytes();
        }
    }
}
