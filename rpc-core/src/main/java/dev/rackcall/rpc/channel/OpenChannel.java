package dev.rackcall.rpc.channel;

import dev.rackcall.rpc.CallMeter;
import dev.rackcall.rpc.CallOptions;
import dev.rackcall.rpc.ClientInterceptor;
import dev.rackcall.rpc.Route;
import dev.rackcall.rpc.RpcChannel;
import dev.rackcall.rpc.spi.CallMeters;
import dev.rackcall.rpc.spi.ClientSpec;
import dev.rackcall.rpc.spi.ServiceDefinition;
import dev.rackcall.shm.Scope;
import dev.rackcall.shm.pool.Pool;
import dev.rackcall.shm.types.SharedObject;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;

/** A channel that was opened: delegates to its current {@link ChannelConnection}. Thread-safe. */
final class OpenChannel implements RpcChannel {
    private final ClientSpec spec;
    private final List<ClientInterceptor> interceptors;
    private final List<CallMeter> meters;
    /** Kept, because some programs make a stub for each call. */
    private final Map<ServiceDefinition<?>, CallMeters> metersByService = new ConcurrentHashMap<>();

    private final ChannelConnection connection;

    OpenChannel(
            ClientSpec spec,
            List<ClientInterceptor> interceptors,
            List<CallMeter> meters,
            ChannelConnection connection) {
        this.spec = spec;
        this.interceptors = interceptors;
        this.meters = meters;
        this.connection = connection;
    }

    @Override
    public String name() {
        return spec.channel();
    }

    @Override
    public <S> S stub(Class<S> service, CallOptions options) {
        ServiceDefinition<S> definition = ServiceDefinition.of(service);
        CallMeters ofService = meters.isEmpty()
                ? CallMeters.NONE
                : metersByService.computeIfAbsent(definition, each -> CallMeters.ofClient(meters, each.methods()));
        return definition.stub(new StubCalls(connection, definition, options, interceptors, ofService));
    }

    @Override
    public Scope newScope(long firstBytes) {
        return connection.usable().newScope(firstBytes);
    }

    @Override
    public Scope newSharedScope(long firstBytes) {
        return connection.usable().newSharedScope(firstBytes);
    }

    @Override
    public void release(Object result) {
        if (!SharedObject.hasLeft(result) && connection.release(result)) {
            SharedObject.leave(result);
        }
    }

    @Override
    public List<Route> routes() {
        return connection.present().routes();
    }

    @Override
    public void usePool(Pool pool) {
        connection.present().changePool(Optional.of(pool));
    }

    @Override
    public void leavePool() {
        connection.present().changePool(Optional.empty());
    }

    @Override
    public State state() {
        return connection.state();
    }

    @Override
    public void onStateChange(Consumer<State> listener) {
        connection.changes().listen(listener);
    }

    @Override
    public void close() {
        connection.close();
    }

    @Override
    public String toString() {
        return "RpcChannel(" + name() + ")";
    }
}
