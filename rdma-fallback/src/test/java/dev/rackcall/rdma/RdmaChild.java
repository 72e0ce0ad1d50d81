package dev.rackcall.rdma;

import dev.rackcall.rpc.RpcChannel;
import dev.rackcall.rpc.contract.Library;
import dev.rackcall.shm.Ref;
import dev.rackcall.shm.Scope;
import dev.rackcall.shm.types.SharedObject;
import java.io.IOException;
import java.net.URI;

/** A process that serves {@code Echo} at an address, or calls it there, or puts something on a {@link Shelf}; says so, and goes on until its input ends. */
final class RdmaChild {
    private RdmaChild() {}

    /**
     * The program.
     *
     * @param arguments "serve", "call" or "share", and the address
     */
    public static void main(String[] arguments) throws IOException {
        URI address = URI.create(arguments[1]);
        if (arguments[0].equals("serve")) {
            EchoChild.serve(address);
        } else if (arguments[0].equals("share")) {
            share(address);
        } else {
            EchoChild.call(address);
        }
    }

    private static void share(URI address) throws IOException {
        try (RpcChannel channel = RpcChannel.builder("/test/shelf")
                        .address(address)
                        .arenaQuota(1 << 20)
                        .open();
                Scope scope = channel.newSharedScope()) {
            Library.Page first = null;
            for (int number = 9; number >= 0; number--) {
                Library.Page page = scope.create(Library.Page.class);
                page.number(number);
                page.next(first == null ? Ref.nullRef() : SharedObject.toRef(first));
                first = page;
            }
            channel.stub(Shelf.class).put(1, first);
            System.out.println("shared");
            EchoChild.awaitEnd();
        }
    }
}
