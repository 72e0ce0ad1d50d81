package dev.rackcall.rpc.shm;

import dev.rackcall.rpc.Status;
import dev.rackcall.rpc.spi.ServerEndpoint;
import dev.rackcall.rpc.spi.ServerSpec;
import java.time.Duration;

/** What a server has behind its doors, wherever those are: the pollers, the handlers, its connections; and whether it takes any more of them. */
abstract class PolledServer implements ServerEndpoint {
    final ServerSpec spec;
    final Pollers pollers;
    final Handlers handlers;
    final ConnectionCount connections = new ConnectionCount();
    private volatile boolean draining;

    PolledServer(ServerSpec spec) {
        this.spec = spec;
        this.handlers = Handlers.of(spec.dispatch());
        this.pollers = new Pollers(spec);
    }

    /**
     * To be called before a connection is made.
     *
     * @throws dev.rackcall.rpc.RpcException UNAVAILABLE if the server drains, RESOURCE_EXHAUSTED if it has as many connections as it may
     */
    final void requireRoom(String channel) {
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
    final void admitNobody() {
        draining = true;
    }

    /** Ends all connections and the threads that serve them. Once nobody makes connections or asks for relief. */
    final void endCalls() {
        pollers.stop();
        handlers.close();
    }
}
