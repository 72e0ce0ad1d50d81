package dev.rackcall.grpc;

import dev.rackcall.grpc.wire.CarrierListener;
import dev.rackcall.grpc.wire.PipeConnection;
import dev.rackcall.grpc.wire.PipeListener;
import dev.rackcall.grpc.wire.PipeLoop;
import dev.rackcall.rpc.RpcException;
import dev.rackcall.rpc.runtime.RuntimeDirectory;
import io.grpc.InternalChannelz.SocketStats;
import io.grpc.InternalInstrumented;
import io.grpc.ServerStreamTracer;
import io.grpc.internal.GrpcUtil;
import io.grpc.internal.InternalServer;
import io.grpc.internal.ObjectPool;
import io.grpc.internal.ServerListener;
import io.grpc.internal.ServerTransportListener;
import io.grpc.internal.SharedResourceHolder;
import io.grpc.internal.SharedResourcePool;
import java.io.IOException;
import java.net.SocketAddress;
import java.net.URI;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/** The listening side: a socket, and one thread that receives the frames of all clients; another for all devices. */
final class RackcallServer implements InternalServer {
    /** With this many clients, further clients over devices are refused: each costs 68 KiB and a thread. */
    private static final int MOST_REMOTE_CLIENTS = 10_000;

    private static final long FILTER_NANOS = TimeUnit.SECONDS.toNanos(5);

    /** One thread for the deadlines of all servers. gRPC's shared timer thread also runs clients' work, which could delay them. */
    private static final SharedResourceHolder.Resource<ScheduledExecutorService> TIMERS =
            new SharedResourceHolder.Resource<>() {
                @Override
                public ScheduledExecutorService create() {
                    ScheduledThreadPoolExecutor timers = new ScheduledThreadPoolExecutor(
                            1, GrpcUtil.getThreadFactory("rackcall-grpc-timer-%d", true));
                    timers.setRemoveOnCancelPolicy(true);
                    return timers;
                }

                @Override
                public void close(ScheduledExecutorService timers) {
                    timers.shutdown();
                }

                @Override
                public String toString() {
                    return "rackcall-grpc-timer";
                }
            };

    private final RackcallSocketAddress address;
    private final List<URI> listens;
    private final boolean insecure;
    private final Optional<URI> directory;
    private final ConnectionLimits limits;
    private final int maxInboundMessageSize;
    private final int maxInboundMetadataSize;
    private final List<? extends ServerStreamTracer.Factory> tracerFactories;
    private final ObjectPool<ScheduledExecutorService> schedulers = SharedResourcePool.forResource(TIMERS);

    private ScheduledExecutorService scheduler;
    private PipeLoop loop;
    private PipeListener door;
    /** Null without addresses. A loop of its own, because looking at a device takes longer than looking at memory. */
    private PipeLoop deviceLoop;

    private final List<CarrierListener> remoteDoors = new ArrayList<>();
    /** The server's entry in the directory; null without one. */
    private DirectoryEntry entry;

    private ServerListener listener;

    private final Object lock = new Object();
    private final Set<RackcallServerTransport> transports = new HashSet<>();
    private boolean shutdown;
    /** Clients on their way to {@link #listener}. */
    private int accepting;

    RackcallServer(
            RackcallSocketAddress address,
            List<URI> listens,
            boolean insecure,
            Optional<URI> directory,
            ConnectionLimits limits,
            int maxInboundMessageSize,
            int maxInboundMetadataSize,
            List<? extends ServerStreamTracer.Factory> tracerFactories) {
        this.address = address;
        this.listens = listens;
        this.insecure = insecure;
        this.directory = directory;
        this.limits = limits;
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
            listenToOthers();
            announce();
            // The last step: gRPC's server holds its lock now, so a client's first call into it would wait.
            door.start();
        } catch (RpcException e) {
            undo();
            throw new IOException(
                    "channel " + address.channel() + ": " + e.status().description(), e);
        } catch (IOException | RuntimeException | Error e) {
            undo();
            throw e;
        }
    }

    private void listenToOthers() {
        if (listens.isEmpty()) {
            return;
        }
        deviceLoop = PipeLoop.startForDevices("rackcall-grpc-device");
        for (URI each : listens) {
            remoteDoors.add(
                    CarrierListener.open(each, insecure, address.channel(), deviceLoop, this::accept, this::hasRoom));
        }
    }

    private void announce() throws IOException {
        if (directory.isEmpty()) {
            return;
        }
        List<URI> addresses = remoteDoors.stream().map(CarrierListener::address).toList();
        try {
            String mark = DirectoryEntry.mark(address.directory(), door.id());
            entry = DirectoryEntry.announce(directory.get(), address.channel(), mark, addresses);
        } catch (NoClassDefFoundError e) {
            throw new IOException(
                    "channel " + address.channel() + ": directory(" + directory.get()
                            + ") needs the artifact rackcall-directory on the class path",
                    e);
        }
    }

    /** Clients over devices may be waiting for gRPC's server; each is refused once its thread continues. */
    private void undo() {
        boolean unused;
        synchronized (lock) {
            shutdown = true;
            unused = transports.isEmpty();
        }
        if (entry != null) {
            entry.close();
        }
        closeDoors();
        if (unused) {
            release();
        }
    }

    private void closeDoors() {
        if (door != null) {
            door.close();
        }
        remoteDoors.forEach(CarrierListener::close);
    }

    private void closeLoops() {
        if (loop != null) {
            loop.close();
        }
        if (deviceLoop != null) {
            deviceLoop.close();
        }
    }

    private boolean hasRoom() {
        synchronized (lock) {
            return transports.size() < MOST_REMOTE_CLIENTS;
        }
    }

    private void accept(PipeConnection connection) {
        RackcallServerTransport transport = new RackcallServerTransport(this, connection);
        synchronized (lock) {
            requireOpen();
            transports.add(transport);
            accepting++;
        }
        ServerTransportListener created = null;
        try {
            created = listener.transportCreated(transport);
            synchronized (lock) {
                requireOpen();
            }
            transport.begin(created);
            connection.begin(transport);
            transport.startTimers();
        } catch (RuntimeException | Error e) {
            // A filter of the application failed. gRPC's server ends only after all its transports.
            refuse(transport, created, e);
            throw e;
        } finally {
            synchronized (lock) {
                accepting--;
                lock.notifyAll();
            }
        }
    }

    private void requireOpen() {
        if (shutdown) {
            throw new IllegalStateException("the server is shutting down");
        }
    }

    /**
     * gRPC's server ends the transports that it knows. After this method, it knows all of them, unless a filter takes
     * very long.
     */
    private void awaitAccepting() {
        long end = System.nanoTime() + FILTER_NANOS;
        boolean interrupted = false;
        synchronized (lock) {
            for (long left = FILTER_NANOS; accepting > 0 && left > 0; left = end - System.nanoTime()) {
                try {
                    TimeUnit.NANOSECONDS.timedWait(lock, left);
                } catch (InterruptedException e) {
                    interrupted = true;
                }
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
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
        if (entry != null) {
            entry.close();
        }
        closeDoors();
        awaitAccepting();
        listener.serverShutdown();
        if (unused) {
            release();
        }
    }

    private void release() {
        closeLoops();
        schedulers.returnObject(scheduler);
    }

    ScheduledExecutorService scheduler() {
        return scheduler;
    }

    ConnectionLimits limits() {
        return limits;
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
        List<SocketAddress> all = new ArrayList<>();
        all.add(address);
        remoteDoors.forEach(each -> all.add(RackcallSocketAddress.of(address.channel(), each.address())));
        return all;
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
