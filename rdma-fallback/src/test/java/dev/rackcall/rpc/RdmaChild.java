package dev.rackcall.rpc;

import java.io.IOException;
import java.net.URI;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;

/** A process that serves {@link Echo} at an address, or calls it there; says so, and goes on until its input ends. */
final class RdmaChild {
    private RdmaChild() {}

    /**
     * The program.
     *
     * @param arguments "serve" or "call", and the address
     */
    public static void main(String[] arguments) throws IOException {
        URI address = URI.create(arguments[1]);
        if (arguments[0].equals("serve")) {
            serve(address);
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

    private static void awaitEnd() throws IOException {
        while (System.in.read() >= 0) {
            Thread.onSpinWait();
        }
    }
}
