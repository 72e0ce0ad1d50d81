package dev.rackcall.route;

import dev.rackcall.cp.ControlAddress;
import dev.rackcall.cp.HostId;
import dev.rackcall.cp.Tenant;
import dev.rackcall.cp.agent.Agent;
import dev.rackcall.cp.agent.AgentOptions;
import dev.rackcall.rdma.queue.QueueSettings;
import dev.rackcall.rpc.RpcServer;
import dev.rackcall.testkit.Await;
import dev.rackcall.verbs.soft.SoftDevice;
import dev.rackcall.verbs.soft.SoftOptions;
import java.io.IOException;
import java.net.URI;

/** A server in a process of its own, on the host whose runtime folder it is given; until its input ends. */
public final class NumbersChild {
    private static final URI ANY_PORT = URI.create("rdma://127.0.0.1:0");

    private NumbersChild() {}

    /** Arguments: directory, name; and a meta server if it is to serve over virtual queues, too. */
    public static void main(String[] args) throws IOException {
        String host = "host-of-" + args[1];
        if (args.length == 2) {
            serve(args, host, server(args, host));
            return;
        }
        ControlAddress meta = ControlAddress.parse(args[2]);
        try (Agent agent = Agent.open(
                        SoftDevice.of(host, SoftOptions.local()),
                        AgentOptions.of(HostId.named(host)).withMeta(() -> meta));
                Tenant tenant = agent.admit("numbers")) {
            QueueSettings.use(tenant);
            Await.until("the registration", () -> agent.registrationProblem().isEmpty());
            serve(args, host, server(args, host).listen(URI.create("vq://" + host + ":0")));
        }
    }

    private static RpcServer.Builder server(String[] args, String host) {
        return RpcServer.builder()
                .service(Numbers.class, new NumbersService(args[1]))
                .listen(ANY_PORT)
                .arenaQuota(4 << 20)
                .directory(URI.create(args[0]))
                .host(host);
    }

    private static void serve(String[] args, String host, RpcServer.Builder builder) throws IOException {
        try (RpcServer server = builder.start()) {
            System.out.println("READY " + server.channels() + " as " + args[1] + " on " + host);
            System.in.readAllBytes();
        }
    }
}
