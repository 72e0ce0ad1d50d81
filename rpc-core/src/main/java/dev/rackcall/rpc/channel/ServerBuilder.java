package dev.rackcall.rpc.channel;

import dev.rackcall.rpc.CallMeter;
import dev.rackcall.rpc.DeadlineClock;
import dev.rackcall.rpc.Dispatch;
import dev.rackcall.rpc.Isolation;
import dev.rackcall.rpc.RpcServer;
import dev.rackcall.rpc.SandboxPolicy;
import dev.rackcall.rpc.ServerInterceptor;
import dev.rackcall.rpc.Status;
import dev.rackcall.rpc.runtime.RuntimeDirectory;
import dev.rackcall.rpc.shm.Transports;
import dev.rackcall.rpc.spi.AccessList;
import dev.rackcall.rpc.spi.Router;
import dev.rackcall.rpc.spi.ServerEndpoint;
import dev.rackcall.rpc.spi.ServerSpec;
import dev.rackcall.rpc.spi.ServiceDefinition;
import dev.rackcall.shm.pool.Pool;
import dev.rackcall.shm.pool.PoolOptions.Wish;
import dev.rackcall.shm.waiting.WaitStrategy;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.stream.Collectors;

/** Collects the settings of a server and starts it. */
final class ServerBuilder implements RpcServer.Builder {
    private static final long LEAST_QUOTA = 64L << 10;
    private static final long MOST_QUOTA = 1L << 40;

    private final List<ServerSpec.Service<?>> services = new ArrayList<>();
    private final List<ServerInterceptor> interceptors = new ArrayList<>();
    private final List<CallMeter> meters = new ArrayList<>();
    private Dispatch dispatch = Dispatch.direct();
    private WaitStrategy waiting = WaitStrategy.adaptive();
    private OptionalInt pollers = OptionalInt.empty();
    private Path runtimeFolder = RuntimeDirectory.defaultPath();
    private int maxConnections = 10_000;
    private long arenaQuota = 256L << 20;
    private long sharedQuota = 4L << 30;
    private Isolation minimumIsolation = Isolation.TRUSTED;
    private SandboxPolicy sandbox = SandboxPolicy.STRICT;
    private final Map<String, AccessList> access = new HashMap<>();
    private Duration stuckAfter = Duration.ofMillis(20);
    private Optional<Pool> pool = Optional.empty();
    private Optional<Wish> hugePages = Optional.empty();
    private final List<URI> addresses = new ArrayList<>();
    private boolean insecure;
    private boolean exclusive;
    private Optional<URI> members = Optional.empty();
    private Optional<String> host = Optional.empty();

    @Override
    public <S> RpcServer.Builder service(Class<S> type, S implementation) {
        return service(type, implementation, ServiceDefinition.of(type).channel());
    }

    @Override
    public <S> RpcServer.Builder service(Class<S> type, S implementation, String channel) {
        Objects.requireNonNull(implementation, "implementation");
        RuntimeDirectory.checkName(channel);
        if (services.stream().anyMatch(service -> service.channel().equals(channel))) {
            throw Status.Code.ALREADY_EXISTS
                    .with(
                            "this server has a service on channel %s already; name another one:"
                                    + " service(%s.class, implementation, \"/another/name\")",
                            channel, type.getSimpleName())
                    .asException();
        }
        ServiceDefinition<S> definition = ServiceDefinition.of(type);
        services.add(new ServerSpec.Service<>(channel, definition, definition.dispatcher(implementation)));
        return this;
    }

    @Override
    public RpcServer.Builder exclusive() {
        exclusive = true;
        return this;
    }

    @Override
    public RpcServer.Builder interceptor(ServerInterceptor interceptor) {
        if (Objects.requireNonNull(interceptor, "interceptor") != ServerInterceptor.NONE) {
            interceptors.add(interceptor);
        }
        return this;
    }

    @Override
    public RpcServer.Builder meter(CallMeter meter) {
        meters.add(Objects.requireNonNull(meter, "meter"));
        return this;
    }

    @Override
    public RpcServer.Builder dispatch(Dispatch value) {
        dispatch = Objects.requireNonNull(value, "dispatch");
        return this;
    }

    @Override
    public RpcServer.Builder waiting(WaitStrategy value) {
        waiting = Objects.requireNonNull(value, "waiting");
        return this;
    }

    @Override
    public RpcServer.Builder pollers(int value) {
        pollers = OptionalInt.of(positive(value, "pollers"));
        return this;
    }

    @Override
    public RpcServer.Builder runtimeFolder(Path value) {
        runtimeFolder = Objects.requireNonNull(value, "runtimeFolder");
        return this;
    }

    @Override
    public RpcServer.Builder maxConnections(int value) {
        maxConnections = positive(value, "maxConnections");
        return this;
    }

    @Override
    public RpcServer.Builder arenaQuota(long bytes) {
        arenaQuota = quota(bytes, "arenaQuota");
        return this;
    }

    @Override
    public RpcServer.Builder sharedQuota(long bytes) {
        sharedQuota = quota(bytes, "sharedQuota");
        return this;
    }

    @Override
    public RpcServer.Builder minimumIsolation(Isolation value) {
        minimumIsolation = value.or(Isolation.TRUSTED);
        return this;
    }

    @Override
    public RpcServer.Builder allowUsers(Class<?> service, int... uids) {
        Set<Integer> users = Arrays.stream(uids).boxed().collect(Collectors.toSet());
        added(service)
                .forEach(channel -> access.merge(
                        channel, AccessList.EMPTY.withUsers(users), (before, now) -> before.withUsers(users)));
        return this;
    }

    @Override
    public RpcServer.Builder allowCertificates(Class<?> service, String... names) {
        Set<String> all = Set.copyOf(Arrays.asList(names));
        added(service)
                .forEach(channel -> access.merge(
                        channel,
                        AccessList.EMPTY.withCertificates(all),
                        (before, now) -> before.withCertificates(all)));
        return this;
    }

    /** The channels at which this server serves the interface. */
    private List<String> added(Class<?> service) {
        List<String> channels = services.stream()
                .filter(added -> added.definition().type() == service)
                .map(ServerSpec.Service::channel)
                .toList();
        if (channels.isEmpty()) {
            // Otherwise calls in the wrong order would leave a channel open to all.
            throw new IllegalArgumentException("the server does not serve " + service.getName() + "; add it by service("
                    + service.getSimpleName() + ".class, ...) before its access list");
        }
        return channels;
    }

    @Override
    public RpcServer.Builder sandbox(SandboxPolicy value) {
        sandbox = Objects.requireNonNull(value, "sandbox");
        return this;
    }

    @Override
    public RpcServer.Builder stuckAfter(Duration value) {
        stuckAfter = Objects.requireNonNull(value, "stuckAfter");
        return this;
    }

    @Override
    public RpcServer.Builder pool(Pool value) {
        pool = Optional.of(value);
        return this;
    }

    @Override
    public RpcServer.Builder hugePages(Wish wish) {
        hugePages = Optional.of(wish);
        return this;
    }

    @Override
    public RpcServer.Builder listen(URI value) {
        addresses.add(Objects.requireNonNull(value, "address"));
        return this;
    }

    @Override
    public RpcServer.Builder insecure() {
        insecure = true;
        return this;
    }

    @Override
    public RpcServer.Builder directory(URI value) {
        members = Optional.of(value);
        return this;
    }

    @Override
    public RpcServer.Builder host(String value) {
        host = Optional.of(value);
        return this;
    }

    @Override
    public RpcServer start() {
        if (services.isEmpty()) {
            throw new IllegalStateException(
                    "a server needs at least one service; call service(Type.class, implementation)");
        }
        if (pool.isPresent() && !access.isEmpty()) {
            throw new IllegalStateException("the clients of a pool prove no user; serve " + access.keySet()
                    + " without allowUsers and allowCertificates, or" + " without a pool");
        }
        ServerSpec spec = new ServerSpec(
                List.copyOf(services),
                List.copyOf(interceptors),
                List.copyOf(meters),
                new ServerSpec.Threads(dispatch, waiting, pollers, stuckAfter),
                new ServerSpec.Limits(maxConnections, arenaQuota, sharedQuota),
                new ServerSpec.Trust(minimumIsolation, sandbox, Map.copyOf(access)),
                new ServerSpec.Place(runtimeFolder, pool, hugePages, List.copyOf(addresses), insecure, exclusive),
                DeadlineClock.current());
        List<String> channels =
                services.stream().map(ServerSpec.Service::channel).toList();
        ServerEndpoint endpoint = Transports.serve(spec);
        try {
            return RunningServer.start(endpoint, channels, announced(spec, endpoint), pool.isPresent());
        } catch (RuntimeException | Error e) {
            endpoint.close();
            throw e;
        }
    }

    private Optional<Router.Announcement> announced(ServerSpec spec, ServerEndpoint endpoint) {
        return members.map(place -> Router.get()
                .announce(spec, endpoint, new Router.Membership(place, host.orElseGet(RuntimeDirectory::hostName))));
    }

    static long quota(long bytes, String what) {
        if (bytes < LEAST_QUOTA || bytes > MOST_QUOTA) {
            throw new IllegalArgumentException(
                    what + " must be " + LEAST_QUOTA + " to " + MOST_QUOTA + " bytes, not " + bytes);
        }
        return bytes;
    }

    private static int positive(int value, String what) {
        if (value < 1) {
            throw new IllegalArgumentException(what + " must be at least 1, not " + value);
        }
        return value;
    }
}
