package dev.rackcall.rpc;

import dev.rackcall.cp.Agent;
import dev.rackcall.cp.AgentOptions;
import dev.rackcall.cp.ControlAddress;
import dev.rackcall.cp.HostId;
import dev.rackcall.cp.Tenant;
import dev.rackcall.rdma.queue.QueueSettings;
import dev.rackcall.verbs.soft.SoftDevice;
import dev.rackcall.verbs.soft.SoftOptions;
import java.io.IOException;
import java.net.URI;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;

/** A process with an agent of its own that serves {@link Echo} over virtual queues, or calls it; says so, and goes on until its input ends. */
final class QueueChild {
    private QueueChild() {}

    /**
     * The program.
     *
     * @param arguments "serve" or "call", the name of its host, the address, and the meta server's
     */
    public static void main(String[] arguments) throws IOException {
        ControlAddress meta = ControlAddress.parse(arguments[3]);
        try (Agent agent = Agent.open(
                        SoftDevice.of(arguments[1], SoftOptions.local()),
                        AgentOptions.of(HostId.named(arguments[1])).withMeta(() -> meta));
                Tenant tenant = agent.admit("child")) {
            QueueSettings.use(tenant);
            URI address = URI.create(arguments[2]);
            if (arguments[0].equals("serve")) {
                serve(address);
            } else {
                call(address);
            }
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
