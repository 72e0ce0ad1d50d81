package dev.rackcall.cli.top;

import dev.rackcall.rpc.RpcChannel;
import dev.rackcall.rpc.RpcException;
import dev.rackcall.samples.quickstart.Door;
import dev.rackcall.shm.Scope;
import dev.rackcall.shm.pool.TwoHosts;
import dev.rackcall.testkit.Await;
import java.net.URI;
import java.nio.file.Path;

/**
 * A process that calls {@link Door} at the channel that it is given, and if there is a second argument at that address or, as
 * its second host, in the pool at that path, until it is killed. It prints "calling" after the first call, and how it failed.
 */
final class TopClientChild {
    private TopClientChild() {}

    /** The program. */
    public static void main(String[] arguments) {
        RpcChannel.Builder builder = RpcChannel.builder(arguments[0]).connectTimeout(Await.BOUND);
        if (arguments.length > 1 && arguments[1].startsWith("/")) {
            builder.pool(TwoHosts.host(Path.of(arguments[1]), 1));
        } else if (arguments.length > 1) {
            builder.address(URI.create(arguments[1]));
        }
        try (RpcChannel channel = builder.open();
                Scope scope = channel.newScope()) {
            Door door = channel.stub(Door.class);
            Door.Guest guest = scope.create(Door.Guest.class).name("Ada");
            door.greet(guest);
            System.out.println("calling");
            while (true) {
                door.greet(guest);
            }
        } catch (RpcException e) {
            System.out.println("failed " + e.code());
        }
    }
}
