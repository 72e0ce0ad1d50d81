package dev.rackcall.samples.quickstart;

import dev.rackcall.rpc.Rpc;
import dev.rackcall.rpc.RpcChannel;
import dev.rackcall.rpc.RpcServer;
import dev.rackcall.rpc.RpcService;
import dev.rackcall.shm.Scope;
import dev.rackcall.shm.types.Shared;

/** The argument {@code serve} starts the server; any other argument is a name that the client sends. */
@RpcService("/quickstart/door")
public interface Door {
    @Rpc
    String greet(Guest guest);

    @Shared // lies in shared memory and is passed by pointer, whatever its size
    interface Guest {
        String name();

        Guest name(String value);
    }

    static void main(String[] args) throws InterruptedException {
        if (args.length == 0) {
            System.out.println("usage: Door serve | NAME");
        } else if (args[0].equals("serve")) {
            RpcServer server = RpcServer.builder()
                    .service(Door.class, guest -> "Hello, " + guest.name())
                    .start();
            System.out.println("serving " + server.channels());
            server.awaitTermination();
        } else {
            try (RpcChannel channel = RpcChannel.open("/quickstart/door");
                    Scope scope = channel.newScope()) {
                Guest guest = scope.create(Guest.class).name(args[0]);
                System.out.println(channel.stub(Door.class).greet(guest));
            }
        }
    }
}
