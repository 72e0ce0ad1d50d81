package dev.rackcall.rpc.balance;

import dev.rackcall.rpc.MethodDescriptor;
import dev.rackcall.rpc.spi.ClientCalls;
import dev.rackcall.rpc.spi.Dispatcher;
import dev.rackcall.rpc.spi.ServiceDefinition;
import java.util.List;

/** A definition that does something whenever its version is compared, which happens at each new connection. */
final class WatchedDefinition<T> extends ServiceDefinition<T> {
    private final ServiceDefinition<T> same;
    private final Runnable whenCompared;

    WatchedDefinition(Class<T> type, Runnable whenCompared) {
        this.same = ServiceDefinition.of(type);
        this.whenCompared = whenCompared;
    }

    @Override
    public long fingerprint() {
        whenCompared.run();
        return same.fingerprint();
    }

    @Override
    public Class<T> type() {
        return same.type();
    }

    @Override
    public String channel() {
        return same.channel();
    }

    @Override
    public List<MethodDescriptor> methods() {
        return same.methods();
    }

    @Override
    public String description() {
        return same.description();
    }

    @Override
    public T stub(ClientCalls calls) {
        return same.stub(calls);
    }

    @Override
    public Dispatcher dispatcher(T service) {
        return same.dispatcher(service);
    }
}
