package dev.rackcall.grpc;

import dev.rackcall.grpc.wire.PipeConnection;
import dev.rackcall.grpc.wire.PipeListener;
import dev.rackcall.grpc.wire.PipeLoop;
import dev.rackcall.rpc.runtime.RuntimeDirectory;
import io.grpc.InternalChannelz.SocketStats;
import io.grpc.InternalInstrumented;
import io.grpc.ServerStreamTracer;
import io.grpc.internal.GrpcUtil;
import io.grpc.internal.InternalServer;
import io.grpc.internal.ObjectPool;
import io.grpc.internal.ServerListener;
import io.grpc.internal.ServerTransportListener;
import io.grpc.internal.SharedResourcePool;
import java.io.IOException;
import java.net.SocketAddress;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ScheduledExecutorService;

/** The listening side: a socket, and one thread that receives the frames of all clients. */
final class RackcallServer implements InternalServer {
    private final RackcallSocketAddress address;
    private final int maxInboundMessageSize;
    private final int maxInboundMetadataSize;
    private final List<? extends ServerStreamTracer.Factory> tracerFactories;
    private final ObjectPool<ScheduledExecutorService> schedulers =
            SharedResourcePool.forResource(GrpcUtil.TIMER_SERVICE);

    private ScheduledExecutorService scheduler;
    private PipeLoop loop;
    private PipeListener door;
    private ServerListener listener;

    private final Object lock = new Object();
    private final Set<RackcallServerTransport> transports = new HashSet<>();
    private boolean shutdown;

    RackcallServer(
            RackcallSocketAddress address,
            int maxInboundMessageSize,
            int maxInboundMetadataSize,
            List<? extends ServerStreamTracer.Factory> tracerFactories) {
        this.address = address;
        this.maxInboundMessageSize = maxInboundMessageSize;
        this.maxInboundMetadataSize = maxInboundMetadataSize;
        this.tracerFactories = tracerFactories;
    }

    @Override
    public void start(ServerListener given) throws IOException {
        listener = given;
        scheduler = schedulers.getObject();
        try {
            loop = PipeLoop.start("rackcall-grpc-server");
            door = PipeListener.open(RuntimeDirectory.at(address.directory()), address.channel(), loop, this::accept);
        } catch (IOException | RuntimeException | Error e) {
            if (loop != null) {
                loop.close();
            }
            scheduler = schedulers.returnObject(scheduler);
            throw e;
        }
    }

    private PipeConnection.Receiver accept(PipeConnection connection) {
        RackcallServerTransport transport = new RackcallServerTransport(this, connection);
        synchronized (lock) {
            if (shutdown) {
                throw new IllegalStateException("the server is shutting down");
            }
            transports.add(transport);
        }
        ServerTransportListener created = null;
        try {
            created = listener.transportCreated(transport);
            transport.begin(created);
            return transport;
        } catch (RuntimeException | Error e) {
            // A filter of the application failed. gRPC's server ends only after all its transports.
            refuse(transport, created, e);
            throw e;
        }
    }

    private void refuse(RackcallServerTransport transport, ServerTransportListener created, Throwable failure) {
        try {
            if (created != null) {
                created.transportTerminated();
            }
        } catch (RuntimeException | Error e) {
            failure.addSuppressed(e);
        }
        ended(transport);
    }

    void ended(RackcallServerTransport transport) {
        boolean last;
        synchronized (lock) {
            last = transports.remove(transport) && transports.isEmpty() && shutdown;
        }
        if (last) {
            release();
        }
    }

    @Override
    public void shutdown() {
        boolean unused;
        synchronized (lock) {
            if (shutdown) {
                return;
            }
            shutdown = true;
            unused = transports.isEmpty();
        }
        door.close();
        listener.serverShutdown();
        if (unused) {
            release();
        }
    }

    private void release() {
        loop.close();
        schedulers.returnObject(scheduler);
    }

    PipeLoop loop() {
        return loop;
    }

    ScheduledExecutorService scheduler() {
        return scheduler;
    }

    int maxInboundMessageSize() {
        return maxInboundMessageSize;
    }

    int maxInboundMetadataSize() {
        return maxInboundMetadataSize;
    }

    List<? extends ServerStreamTracer.Factory> tracerFactories() {
        return tracerFactories;
    }

    @Override
    public SocketAddress getListenSocketAddress() {
        return address;
    }

    @Override
    public List<? extends SocketAddress> getListenSocketAddresses() {
        return List.of(address);
    }

    @Override
    public InternalInstrumented<SocketStats> getListenSocketStats() {
        return null;
    }

    @Override
    public List<InternalInstrumented<SocketStats>> getListenSocketStatsList() {
        return null;
    }
}
