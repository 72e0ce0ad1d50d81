package dev.rackcall.rpc.flags;

import dev.rackcall.rpc.RpcChannel;
import dev.rackcall.rpc.RpcServer;
import dev.rackcall.shm.Scope;
import java.nio.file.Path;

/** Both ends of a connection in a process of their own, as a user's program has them. */
final class ParcelOffice implements Parcels {
    private ParcelOffice() {}

    /**
     * Prints what two calls return, the second only if there is a second argument.
     *
     * @param arguments the runtime directory; anything, to send an object of a registered class, too
     */
    public static void main(String[] arguments) {
        Path directory = Path.of(arguments[0]);
        try (RpcServer server = RpcServer.builder()
                        .runtimeFolder(directory)
                        .service(Parcels.class, new ParcelOffice())
                        .start();
                RpcChannel channel = RpcChannel.builder(server.channels().getFirst())
                        .runtimeFolder(directory)
                        .open();
                Scope scope = channel.newScope()) {
            Parcels parcels = channel.stub(Parcels.class);
            System.out.println(parcels.print(scope.create(Label.class).receiver("Ada")));
            if (arguments.length > 1) {
                System.out.println(parcels.weigh(new Parcel(42)));
            }
        }
    }

    @Override
    public String print(Label label) {
        return "to " + label.receiver();
    }

    @Override
    public int weigh(Parcel parcel) {
        return parcel.grams();
    }
}
