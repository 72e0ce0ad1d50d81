package dev.rackcall.rdma;

import dev.rackcall.rpc.CallOptions;
import dev.rackcall.rpc.Dispatch;
import dev.rackcall.rpc.RpcChannel;
import dev.rackcall.rpc.RpcServer;
import dev.rackcall.rpc.contract.Echo;
import dev.rackcall.rpc.contract.EchoService;
import java.io.IOException;
import java.net.URI;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;

/** What a child process does with {@link Echo}, and says of it, until its input ends. */
final class EchoChild {
    private EchoChild() {}

    /** Serves there. */
    static void serve(URI address) throws IOException {
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

    /** Calls whoever serves there, and leaves a call without an answer. */
    static void call(URI address) throws IOException {
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

    static void awaitEnd() throws IOException {
        while (System.in.read() >= 0) {
            Thread.onSpinWait();
        }
    }
}
