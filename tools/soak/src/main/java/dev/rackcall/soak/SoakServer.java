package dev.rackcall.soak;

import dev.rackcall.rdma.RdmaSettings;
import dev.rackcall.rpc.CallOptions;
import dev.rackcall.rpc.Dispatch;
import dev.rackcall.rpc.RpcChannel;
import dev.rackcall.rpc.RpcServer;
import dev.rackcall.rpc.chaos.Chaos;
import dev.rackcall.rpc.chaos.ChaosService;
import dev.rackcall.shm.pool.Pool;
import dev.rackcall.shm.pool.TwoHosts;
import dev.rackcall.testkit.Await;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;

/** A process that serves {@link Chaos} over one transport. */
final class SoakServer extends SoakChild {
    /** Short, so that handlers are often relieved of polling. */
    private static final Duration STUCK = Duration.ofMillis(3);

    private final ChaosService service = new ChaosService();
    private final Optional<Pool> pool;
    private final RpcServer server;
    private final String channel;
    private RpcChannel self;

    private SoakServer(SoakTransport transport, Path root, String channel, String address, int number) {
        pool = transport.isPool() ? Optional.of(TwoHosts.host(SoakTransport.poolFile(root), number)) : Optional.empty();
        RpcServer.Builder builder = RpcServer.builder()
                .service(Chaos.class, service, channel)
                .dispatch(dispatch(number))
                .stuckAfter(STUCK)
                .interceptor((call, next) -> {
                    call.onEnd(service.calls.begin(call.method().fullName()));
                    next.run();
                });
        pool.ifPresent(builder::pool);
        if (!address.equals("-")) {
            builder.listen(URI.create(address));
        }
        this.channel = channel;
        // Before the server starts: clients may already wait for it, and their nested calls come at once.
        self = callItself();
        server = builder.start();
        // Connects, which also removes the files of killed servers.
        self.stub(Chaos.class, CallOptions.DEFAULT.withTimeout(Await.BOUND)).next(0, 0);
    }

    private RpcChannel callItself() {
        RpcChannel.Builder own = RpcChannel.builder(channel);
        pool.ifPresent(own::pool);
        RpcChannel opened = own.connectTimeout(Await.BOUND).openLazily();
        service.self = opened.stub(Chaos.class);
        return opened;
    }

    private static Dispatch dispatch(int number) {
        return switch (number % 3) {
            case 0 -> Dispatch.workers(3);
            case 1 -> Dispatch.direct();
            default -> Dispatch.virtualThreads();
        };
    }

    /** Uses the certificate of the soak, if the transport has one. */
    static void certify(SoakTransport transport, Path root) {
        if (transport == SoakTransport.TLS) {
            Path certificate = root.resolve("peer.crt");
            RdmaSettings.tls(certificate, root.resolve("peer.key"), certificate);
        }
    }

    /**
     * The program.
     *
     * @param arguments the transport, the soak's folder, the channel, the address or "-", the number of its host
     */
    public static void main(String[] arguments) {
        try {
            SoakTransport transport = SoakTransport.valueOf(arguments[0]);
            Path root = Path.of(arguments[1]);
            certify(transport, root);
            SoakChild child = transport == SoakTransport.GRPC
                    ? new GrpcSoakServer(arguments[2])
                    : new SoakServer(transport, root, arguments[2], arguments[3], Integer.parseInt(arguments[4]));
            child.run();
        } catch (Throwable t) {
            fail(t);
        }
    }

    @Override
    Map<String, Long> calm() {
        service.calls.awaitQuiet("server");
        Await.equal("open streams at the server", 0L, service.openStreams::get);
        self.close();
        Map<String, Long> numbers = new HashMap<>();
        numbers.put("calls", service.calls.begun());
        pool.ifPresent(mine -> numbers.put("pool-KiB", mine.arena().usedBytes() >> 10));
        numbers.put("connections", (long) server.connections());
        return numbers;
    }

    @Override
    void proceed() {
        self = callItself();
    }

    /** {@code reclaim HOST}, after that host's process has ended. */
    @Override
    void obey(String[] words) {
        pool.orElseThrow().reclaimHost(Integer.parseInt(words[1]));
    }

    @Override
    void end() {
        self.close();
        server.close();
        pool.ifPresent(Pool::close);
    }
}
