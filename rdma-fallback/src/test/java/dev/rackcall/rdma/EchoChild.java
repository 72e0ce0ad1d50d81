package dev.rackcall.rdma;

import dev.rackcall.rpc.CallOptions;
import dev.rackcall.rpc.RpcChannel;
import dev.rackcall.rpc.RpcServer;
import dev.rackcall.rpc.contract.Echo;
import dev.rackcall.rpc.contract.Library;
import dev.rackcall.shm.Ref;
import dev.rackcall.shm.Scope;
import dev.rackcall.shm.types.SharedObject;
import dev.rackcall.testkit.Await;
import java.io.IOException;
import java.net.URI;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;

/**
 * A process that serves {@link Echo}, calls it, or puts an object on a {@link Shelf}. It reports what it does, until
 * its input ends.
 */
final class EchoChild {
    private EchoChild() {}

    /**
     * The program.
     *
     * @param arguments "serve", "call" or "share", and the address
     */
    public static void main(String[] arguments) throws IOException {
        run(arguments[0], URI.create(arguments[1]));
    }

    static void run(String what, URI address) throws IOException {
        switch (what) {
            case "serve" -> serve(address);
            case "share" -> share(address);
            default -> call(address);
        }
    }

    private static void serve(URI address) throws IOException {
        try (RpcServer server = EchoServer.at(address)) {
            System.out.println("serving at " + server.address().orElseThrow());
            awaitEnd();
        }
    }

    /** Calls the server there, and leaves a call without an answer. */
    private static void call(URI address) throws IOException {
        try (RpcChannel channel = EchoServer.channel(address)) {
            Echo echo = channel.stub(Echo.class, CallOptions.DEFAULT.withTimeout(Duration.ofMinutes(1)));
            System.out.println("sum " + echo.add(1, 2));
            CompletableFuture<Integer> answer = echo.later(1, 60_000);
            System.out.println("waiting");
            awaitEnd();
            System.out.println("answered: " + answer.isDone());
        }
    }

    /** Puts a chain of pages on the shelf. */
    private static void share(URI address) throws IOException {
        try (RpcChannel channel = RpcChannel.builder("/test/shelf")
                        .address(address)
                        .arenaQuota(1 << 20)
                        .waitForReady(Await.BOUND)
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
            awaitEnd();
        }
    }

    static void awaitEnd() throws IOException {
        while (System.in.read() >= 0) {
            Thread.onSpinWait();
        }
    }
}
