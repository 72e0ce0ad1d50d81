package dev.rackcall.rpc.channel;

import dev.rackcall.rpc.CallMeter;
import dev.rackcall.rpc.ClientInterceptor;
import dev.rackcall.rpc.DeadlineClock;
import dev.rackcall.rpc.EnforcedSeals;
import dev.rackcall.rpc.RpcChannel;
import dev.rackcall.rpc.Status;
import dev.rackcall.rpc.runtime.RuntimeDirectory;
import dev.rackcall.rpc.spi.ClientSpec;
import dev.rackcall.rpc.spi.Router;
import dev.rackcall.shm.pool.Pool;
import dev.rackcall.shm.pool.PoolOptions.Wish;
import dev.rackcall.shm.waiting.WaitStrategy;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalLong;

/** Collects the settings of a channel and opens it. */
final class ChannelBuilder implements RpcChannel.Builder {
    private final String channel;
    private final List<ClientInterceptor> interceptors = new ArrayList<>();
    private final List<CallMeter> meters = new ArrayList<>();
    private Optional<Path> runtimeFolder = Optional.empty();
    private WaitStrategy waiting = WaitStrategy.adaptive();
    private int slots = 64;
    private OptionalLong arenaQuota = OptionalLong.empty();
    private Duration connectTimeout = Duration.ofSeconds(5);
    private Duration waitForReady = Duration.ZERO;
    private Duration defaultTimeout = Duration.ofSeconds(30);
    private long sealFrom = ClientSpec.Sealing.DEFAULT.from();
    private int keepSealed = ClientSpec.Sealing.DEFAULT.kept();
    private Optional<Pool> pool = Optional.empty();
    private Optional<URI> address = Optional.empty();
    private Optional<EnforcedSeals> enforcedSeals = Optional.empty();
    private Optional<URI> members = Optional.empty();
    private Optional<String> host = Optional.empty();

    ChannelBuilder(String channel) {
        RuntimeDirectory.checkName(channel);
        this.channel = channel;
    }

    @Override
    public RpcChannel.Builder interceptor(ClientInterceptor interceptor) {
        if (Objects.requireNonNull(interceptor, "interceptor") != ClientInterceptor.NONE) {
            interceptors.add(interceptor);
        }
        return this;
    }

    @Override
    public RpcChannel.Builder meter(CallMeter meter) {
        meters.add(Objects.requireNonNull(meter, "meter"));
        return this;
    }

    @Override
    public RpcChannel.Builder runtimeFolder(Path value) {
        runtimeFolder = Optional.of(value);
        return this;
    }

    @Override
    public RpcChannel.Builder waiting(WaitStrategy value) {
        waiting = Objects.requireNonNull(value, "waiting");
        return this;
    }

    @Override
    public RpcChannel.Builder slots(int value) {
        slots = value;
        return this;
    }

    @Override
    public RpcChannel.Builder arenaQuota(long bytes) {
        arenaQuota = OptionalLong.of(ServerBuilder.quota(bytes, "arenaQuota"));
        return this;
    }

    @Override
    public RpcChannel.Builder connectTimeout(Duration value) {
        connectTimeout = Objects.requireNonNull(value, "connectTimeout");
        return this;
    }

    @Override
    public RpcChannel.Builder waitForReady(Duration value) {
        waitForReady = Objects.requireNonNull(value, "waitForReady");
        return this;
    }

    @Override
    public RpcChannel.Builder defaultTimeout(Duration value) {
        defaultTimeout = Objects.requireNonNull(value, "defaultTimeout");
        return this;
    }

    @Override
    public RpcChannel.Builder sealFrom(long bytes) {
        sealFrom = bytes;
        return this;
    }

    @Override
    public RpcChannel.Builder keepSealed(int scopesOrPages) {
        if (scopesOrPages < 0) {
            throw new IllegalArgumentException("at least 0 scopes can be kept sealed, not " + scopesOrPages);
        }
        keepSealed = scopesOrPages;
        return this;
    }

    @Override
    public RpcChannel.Builder pool(Pool value) {
        pool = Optional.of(value);
        return this;
    }

    @Override
    public RpcChannel.Builder address(URI value) {
        address = Optional.of(value);
        return this;
    }

    @Override
    public RpcChannel.Builder enforcedSeals(Path holder, Wish wish) {
        enforcedSeals = Optional.of(new EnforcedSeals(holder, wish));
        return this;
    }

    @Override
    public RpcChannel.Builder directory(URI value) {
        members = Optional.of(value);
        return this;
    }

    @Override
    public RpcChannel.Builder host(String value) {
        host = Optional.of(value);
        return this;
    }

    @Override
    public RpcChannel open() {
        ClientSpec spec = spec();
        ChannelConnection connection = new ChannelConnection(spec, membership());
        connection.connect(waitForReady);
        return new OpenChannel(spec, List.copyOf(interceptors), List.copyOf(meters), connection);
    }

    @Override
    public RpcChannel openLazily() {
        ClientSpec spec = spec();
        return new OpenChannel(
                spec, List.copyOf(interceptors), List.copyOf(meters), new ChannelConnection(spec, membership()));
    }

    private Optional<Router.Membership> membership() {
        return members.map(place -> new Router.Membership(place, host.orElseGet(RuntimeDirectory::hostName)));
    }

    private ClientSpec spec() {
        if (members.isPresent() && address.isPresent()) {
            throw Status.Code.INVALID_ARGUMENT
                    .with(
                            "channel %s: name an address (%s) or a directory (%s), not both",
                            channel, address.get(), members.get())
                    .asException();
        }
        return new ClientSpec(
                channel,
                new ClientSpec.Place(runtimeFolder.orElseGet(RuntimeDirectory::defaultPath), pool, address),
                waiting,
                new ClientSpec.Capacity(
                        slots,
                        arenaQuota.orElse(
                                address.isPresent()
                                        ? ClientSpec.Capacity.REMOTE_QUOTA
                                        : ClientSpec.Capacity.NEAR_QUOTA)),
                new ClientSpec.Timeouts(connectTimeout, defaultTimeout, DeadlineClock.current()),
                new ClientSpec.Sealing(sealFrom, keepSealed, enforcedSeals));
    }
}
