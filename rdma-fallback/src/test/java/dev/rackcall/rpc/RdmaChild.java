package dev.rackcall.rpc;

import dev.rackcall.shm.Ref;
import dev.rackcall.shm.Scope;
import java.io.IOException;
import java.net.URI;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;

/** A process that serves {@link Echo} at an address, or calls it there, or puts something on a {@link Shelf}; says so, and goes on until its input ends. */
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
            serve(address);
        } else if (arguments[0].equals("share")) {
            share(address);
        } else {
            call(address);
        }
    }

    private static void serve(URI address) throws IOException {
        try (RpcServer server = RpcServer.builder()
                .directory(OwnDirectory.path())
                .service(Echo.class, new EchoService())
                .dispatch(Dispatch.virtualThreads())
                .listen(address)
                .start()) {
            System.out.println("serving at " + server.address().orElseThrow());
            awaitEnd();
        }
    }

    private static void call(URI address) throws IOException {
        try (RpcChannel channel = RpcChannel.builder("/test/echo")
                .address(address)
                .arenaQuota(1 << 20)
                .open()) {
            Echo echo = channel.stub(Echo.class, CallOptions.DEFAULT.withTimeout(Duration.ofMinutes(1)));
            System.out.println("sum " + echo.add(1, 2));
            CompletableFuture<Integer> answer = echo.later(1, 60_000);
            System.out.println("waiting");
            awaitEnd();
            System.out.println("answered: " + answer.isDone());
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
                page.next(first == null ? Ref.nullRef() : Ref.to(first));
                first = page;
            }
            channel.stub(Shelf.class).put(1, first);
            System.out.println("shared");
            awaitEnd();
        }
    }

    private static void awaitEnd() throws IOException {
        while (System.in.read() >= 0) {
            Thread.onSpinWait();
        }
    }
}
