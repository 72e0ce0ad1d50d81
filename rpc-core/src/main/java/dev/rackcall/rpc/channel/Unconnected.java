package dev.rackcall.rpc.channel;

import dev.rackcall.rpc.CallObserver;
import dev.rackcall.rpc.Isolation;
import dev.rackcall.rpc.Metadata;
import dev.rackcall.rpc.MethodDescriptor;
import dev.rackcall.rpc.Status;
import dev.rackcall.rpc.spi.ClientCall;
import dev.rackcall.rpc.spi.ClientConnection;
import dev.rackcall.rpc.spi.ServedInterface;
import dev.rackcall.rpc.spi.ServiceDefinition;
import dev.rackcall.shm.Scope;
import dev.rackcall.shm.pool.Pool;
import java.util.Optional;

/** What a channel has before its first connection: never usable, so every call or scope connects first. */
final class Unconnected extends ClientConnection {
    private final String channel;

    Unconnected(String channel) {
        this.channel = channel;
    }

    @Override
    public boolean isUsable() {
        return false;
    }

    @Override
    public ClientCall begin(
            MethodDescriptor method, long deadline, Metadata headers, Isolation isolation, CallObserver observer) {
        throw notYet().asException();
    }

    @Override
    public Scope newScope(long firstBytes) {
        throw notYet().asException();
    }

    @Override
    public Scope newSharedScope(long firstBytes) {
        throw notYet().asException();
    }

    /** Stubs compare their version with that of the first connection. */
    @Override
    public void use(ServiceDefinition<?> definition) {}

    /** Of unknown versions. */
    @Override
    public boolean hasSeveralServers() {
        return true;
    }

    @Override
    public boolean release(Object result) {
        return false;
    }

    @Override
    public boolean maps(Object sharedObject) {
        return false;
    }

    @Override
    public int callsUnderWay() {
        return 0;
    }

    @Override
    public void changePool(Optional<Pool> pool) {
        throw notYet().asException();
    }

    @Override
    public ServedInterface service() {
        throw notYet().asException();
    }

    @Override
    public void close() {}

    private Status notYet() {
        return Status.Code.FAILED_PRECONDITION.with(
                "channel %s was opened lazily and has no server yet; its first call or scope connects", channel);
    }
}
