package dev.rackcall.rpc.shm.server;

import dev.rackcall.rpc.Status;
import dev.rackcall.rpc.spi.ServerEndpoint;
import dev.rackcall.rpc.spi.ServerSpec;
import java.time.Duration;

/** What a server has behind its doors, wherever those are: the pollers, the handlers, its connections; and whether it takes any more of them. */
public abstract class PolledServer implements ServerEndpoint {
    public final ServerSpec spec;
    public final Pollers pollers;
    public final Handlers handlers;
    public final ConnectionCount connections = new ConnectionCount();
    private volatile boolean draining;

    public PolledServer(ServerSpec spec) {
        this.spec = spec;
        this.handlers = Handlers.of(spec.dispatch());
        this.pollers = new Pollers(spec);
    }

    /**
     * To be called before a connection is made.
     *
     * @throws dev.rackcall.rpc.RpcException UNAVAILABLE if the server drains, RESOURCE_EXHAUSTED if it has as many connections as it may
     */
    protected final void requireRoom(String channel) {
        if (draining) {
            throw Status.Code.UNAVAILABLE
                    .with("channel %s: its server is shutting down", channel)
                    .asException();
        }
        if (connections.isFull(spec.maxConnections())) {
            throw Status.Code.RESOURCE_EXHAUSTED
                    .with(
                            "channel %s: all %d connections are taken; close some, or raise the server's maxConnections",
                            channel, spec.maxConnections())
                    .asException();
        }
    }

    @Override
    public final void drain() {
        draining = true;
        pollers.drain();
    }

    @Override
    public final boolean awaitDrained(Duration bound) {
        return pollers.awaitDrained(bound);
    }

    @Override
    public final int connections() {
        return connections.connected();
    }

    @Override
    public final int callsUnderWay() {
        return connections.callsUnderWay() + pollers.handlersUnderWay() + pollers.waitingRequests();
    }

    /** No connection is made any more. */
    protected final void admitNobody() {
        draining = true;
    }

    /** Ends all connections and the threads that serve them. Once nobody makes connections or asks for relief. */
    protected final void endCalls() {
        pollers.stop();
        handlers.close();
    }
}
