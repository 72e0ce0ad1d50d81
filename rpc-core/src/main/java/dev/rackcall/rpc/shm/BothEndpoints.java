package dev.rackcall.rpc.shm;

import dev.rackcall.rpc.spi.ServerEndpoint;
import java.net.URI;
import java.time.Duration;
import java.util.List;

/** A server that is reached in two ways. */
record BothEndpoints(ServerEndpoint near, ServerEndpoint far) implements ServerEndpoint {
    @Override
    public void drain() {
        near.drain();
        far.drain();
    }

    @Override
    public boolean awaitDrained(Duration bound) {
        long end = System.nanoTime() + bound.toNanos();
        return near.awaitDrained(bound) && far.awaitDrained(Duration.ofNanos(Math.max(1, end - System.nanoTime())));
    }

    @Override
    public int connections() {
        return near.connections() + far.connections();
    }

    @Override
    public int callsUnderWay() {
        return near.callsUnderWay() + far.callsUnderWay();
    }

    @Override
    public List<URI> addresses() {
        return far.addresses();
    }

    @Override
    public void close() {
        try {
            far.close();
        } finally {
            near.close();
        }
    }
}
