package dev.rackcall.route;

import dev.rackcall.rpc.Route;
import dev.rackcall.rpc.RpcChannel;
import java.net.URI;
import java.time.Duration;

/**
 * A client in its own process, with its own class path. It reports which servers have answered, and over which routes.
 */
public final class NumbersCaller {
    private NumbersCaller() {}

    /** The argument: directory. */
    public static void main(String[] args) {
        try (RpcChannel channel = RpcChannel.builder("/test/numbers")
                .arenaQuota(4 << 20)
                .connectTimeout(Duration.ofSeconds(20))
                .directory(URI.create(args[0]))
                .host("caller")
                .open()) {
            System.out.println("ANSWER " + channel.stub(Numbers.class).who());
            for (Route route : channel.routes()) {
                System.out.println("ROUTE " + route.kind() + ": " + route.state() + ": " + route.reason());
            }
            System.out.println("END");
        }
    }
}
