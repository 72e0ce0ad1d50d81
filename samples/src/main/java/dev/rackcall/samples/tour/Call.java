package dev.rackcall.samples.tour;

import dev.rackcall.rpc.CallOptions;
import dev.rackcall.rpc.Rpc;
import dev.rackcall.rpc.RpcChannel;
import dev.rackcall.rpc.RpcException;
import dev.rackcall.rpc.RpcServer;
import dev.rackcall.rpc.RpcService;
import dev.rackcall.rpc.Status;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;

/** A call with values: a service interface, its handler, a stub, a status for what goes wrong, and a timeout. */
@RpcService("/samples/call")
public interface Call {
    /** Records, collections, enums and most types of {@code java.time} can be passed as they are. */
    record Item(String name, int cents) {}

    @Rpc(idempotent = true) // may be repeated if the connection is lost
    Item find(String name);

    /** The handler. */
    final class Shelf implements Call {
        private final Map<String, Item> items = Map.of("tea", new Item("tea", 350), "cup", new Item("cup", 900));

        @Override
        public Item find(String name) {
            Item item = items.get(name);
            if (item == null) {
                throw Status.Code.NOT_FOUND.with("there is no %s", name).asException();
            }
            return item;
        }
    }

    static void main(String[] args) throws IOException {
        Path folder = Files.createTempDirectory("rackcall-sample-"); // usually the default folder of this user
        try (RpcServer _ = RpcServer.builder()
                        .runtimeFolder(folder)
                        .service(Call.class, new Shelf())
                        .start();
                RpcChannel channel = RpcChannel.builder("/samples/call")
                        .runtimeFolder(folder)
                        .open()) {
            Call shelf = channel.stub(Call.class, CallOptions.DEFAULT.withTimeout(Duration.ofSeconds(5)));
            System.out.println("found " + shelf.find("tea"));
            findSugar(shelf);
        }
    }

    private static void findSugar(Call shelf) {
        try {
            System.out.println("found " + shelf.find("sugar"));
        } catch (RpcException e) {
            System.out.println("failed with " + e.code() + ": " + e.status().description());
        }
    }
}
