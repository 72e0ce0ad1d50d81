package dev.rackcall.rpc.shm.pool;

import dev.rackcall.rpc.Route;
import dev.rackcall.rpc.RpcException;
import dev.rackcall.rpc.Status;
import dev.rackcall.rpc.runtime.RuntimeDirectory;
import dev.rackcall.rpc.shm.protocol.Handshake;
import dev.rackcall.rpc.shm.server.ConnectionFactory;
import dev.rackcall.rpc.shm.server.PolledServer;
import dev.rackcall.rpc.shm.server.SharedPool;
import dev.rackcall.rpc.shm.server.ShmServerConnection;
import dev.rackcall.rpc.spi.LimitedLog;
import dev.rackcall.rpc.spi.ServerSpec;
import dev.rackcall.shm.OutOfArenaException;
import dev.rackcall.shm.os.file.SharedFile;
import dev.rackcall.shm.pool.Pool;
import dev.rackcall.shm.pool.PoolCommons;
import dev.rackcall.shm.waiting.SpinTime;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * A server for clients on all hosts that map a pool. One thread answers hellos at its {@link PoolDoor}s. Everything
 * else works as for clients of this host, except for the bell and the place of the memory.
 */
public final class PoolServer extends PolledServer {
    private static final LimitedLog LOG = LimitedLog.of(PoolServer.class);

    private static final long LOOK_NANOS = TimeUnit.MILLISECONDS.toNanos(1);
    private static final long TICK_NANOS = TimeUnit.MILLISECONDS.toNanos(100);
    /** Pause between two attempts to get a door in a pool that has no room for one. */
    private static final long RETRY_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

    private final PoolCommons pool;
    /** Its number at all its doors. */
    private final long owner;

    private final List<Entrance> entrances = new ArrayList<>();
    private final Thread porter = new Thread(this::attend, "rackcall-porter");
    private volatile boolean stopping;

    /** Told if the server may serve no longer. */
    private volatile Runnable onLost = () -> {};

    /** One channel: its door, and what it serves. */
    private static final class Entrance {
        /** Changed by the porter, if another server has taken it. */
        private volatile PoolDoor door;

        private final ConnectionFactory factory;
        private final PoolMemory memory;
        private volatile boolean isLost;
        /** nanoTime. Porter only. */
        private long triesAgainAt = System.nanoTime();

        Entrance(PoolDoor door, ConnectionFactory factory, PoolMemory memory) {
            this.door = door;
            this.factory = factory;
            this.memory = memory;
        }

        PoolDoor door() {
            return door;
        }

        ConnectionFactory factory() {
            return factory;
        }

        PoolMemory memory() {
            return memory;
        }
    }

    private PoolServer(ServerSpec spec, PoolCommons pool) {
        super(spec);
        this.pool = pool;
        this.owner = PoolDoor.newOwner(spec.place().isExclusive());
        porter.setDaemon(true);
    }

    public static PoolServer start(ServerSpec spec, Pool pool) {
        PoolServer server = new PoolServer(spec, commons(pool));
        try {
            spec.services().forEach(server::open);
            server.startPollers(SpinTime::ofDevice);
            server.porter.start();
        } catch (RuntimeException | Error e) {
            server.close();
            throw e;
        }
        return server;
    }

    static PoolCommons commons(Pool pool) {
        return pool.commons()
                .orElseThrow(() -> Status.Code.FAILED_PRECONDITION
                        .with(
                                "%s is a pool of one host; for calls between hosts open it with Pool.dax(path, host)",
                                pool)
                        .asException());
    }

    private void open(ServerSpec.Service<?> service) {
        String channel = service.channel();
        RuntimeDirectory.checkName(channel);
        try {
            PoolDoor door = PoolDoor.acquire(pool, channel, owner, this::beat);
            try {
                PoolMemory memory = new PoolMemory(pool, spec.limits().sharedQuota());
                entrances.add(new Entrance(door, factory(service, memory), memory));
            } catch (RuntimeException | Error e) {
                door.change(owner, 0);
                throw e;
            }
        } catch (OutOfArenaException e) {
            throw Status.Code.RESOURCE_EXHAUSTED
                    .with("channel %s: the pool has no memory left for it: %s", channel, e.getMessage())
                    .asException(e);
        } catch (IllegalStateException e) {
            throw Status.Code.RESOURCE_EXHAUSTED
                    .with("channel %s: cannot be served: %s", channel, e.getMessage())
                    .asException(e);
        }
    }

    private ConnectionFactory factory(ServerSpec.Service<?> service, PoolMemory memory) {
        try {
            return new ConnectionFactory(
                    spec,
                    service,
                    handlers,
                    memory.most(spec.limits().arenaQuota()),
                    id -> new SharedPool(memory.sharedFile(), id));
        } catch (RuntimeException | Error e) {
            memory.discard();
            throw e;
        }
    }

    // ---- the porter

    private void attend() {
        long lastWatch = System.nanoTime();
        long lastTick = lastWatch;
        while (!stopping) {
            if (!isPoolOpen()) {
                LOG.warn("the pool was closed before its server, which cannot be called any more");
                return;
            }
            try {
                entrances.forEach(this::attendSafely);
                long now = System.nanoTime();
                if (now - lastWatch
                        > Math.min(TICK_NANOS, spec.threads().stuckAfter().toNanos())) {
                    lastWatch = now;
                    watchPollers();
                }
                if (now - lastTick > TICK_NANOS) {
                    lastTick = now;
                    entrances.forEach(entrance -> {
                        entrance.factory().tick();
                        entrance.memory().reclaim();
                    });
                }
            } catch (RuntimeException | Error e) {
                failed(e);
            }
            LockSupport.parkNanos(LOOK_NANOS);
        }
    }

    /** A failure at one entrance must not keep the server from the others. */
    private void attendSafely(Entrance entrance) {
        try {
            attend(entrance);
        } catch (RuntimeException | Error e) {
            failed(e);
        }
    }

    private void failed(Throwable thrown) {
        if (isPoolOpen()) {
            LOG.error("answering a client failed; the server goes on", thrown);
        }
    }

    /** Shows at the doors that this server lives, also while it starts. */
    private void beat() {
        entrances.forEach(entrance -> entrance.door().beat());
    }

    /** Whether clients may go to other servers. An exclusive server keeps its name to its end, also while it drains. */
    private boolean isLeaving() {
        return isDraining() && !spec.place().isExclusive();
    }

    private void attend(Entrance entrance) {
        if (isLeaving()) {
            entrance.door().change(owner, 0);
            return;
        }
        if (entrance.door().owner() != owner && !hasDoorAgain(entrance)) {
            return;
        }
        entrance.door().beat();
        answer(entrance);
    }

    /**
     * Takes another door for a server that gave no sign of life for a lease, as when its process was stopped. Clients
     * that are connected have their own leases. If an exclusive server is involved, this one must not continue to
     * serve.
     */
    private boolean hasDoorAgain(Entrance entrance) {
        if (entrance.isLost || System.nanoTime() - entrance.triesAgainAt < 0) {
            return false;
        }
        String channel = entrance.factory().channel();
        String taker = entrance.door().ownerProcess();
        Optional<PoolDoor> again;
        try {
            again = PoolDoor.acquireAgain(pool, channel, owner);
        } catch (OutOfArenaException | IllegalStateException e) {
            entrance.triesAgainAt = System.nanoTime() + RETRY_NANOS;
            if (isPoolOpen()) {
                LOG.warn(
                        "channel {}: another server took its door in the pool ({}), which has no room for another door: {}; no"
                                + " new client finds this server until it has; it tries again",
                        channel,
                        taker,
                        e.getMessage());
            }
            return false;
        }
        if (again.isPresent()) {
            entrance.door = again.get();
            LOG.warn(
                    "channel {}: this server gave no sign of life for 5 s, and another one took its door in the pool ({}); it"
                            + " serves on at another door",
                    channel,
                    taker);
            return true;
        }
        entrance.isLost = true;
        LOG.error(
                "channel {}: this server gave no sign of life for 5 s, and another one took the channel in the pool ({}); one of the"
                        + " two is exclusive, so this server shuts down",
                channel,
                taker);
        onLost.run();
        return false;
    }

    @Override
    public void onLost(Runnable action) {
        onLost = action;
        // The porter may have found out before.
        if (entrances.stream().anyMatch(entrance -> entrance.isLost)) {
            action.run();
        }
    }

    private void answer(Entrance entrance) {
        for (int seat = 0; seat < PoolDoor.SEATS && entrance.door().owner() == owner; seat++) {
            long place = entrance.door().take(seat);
            if (place != 0) {
                greet(entrance, place);
            }
        }
    }

    private void greet(Entrance entrance, long place) {
        PoolHandshake knock;
        try {
            knock = PoolHandshake.at(pool, place);
        } catch (Handshake.MalformedException e) {
            LOG.warn(
                    "channel {}'s door was overwritten by another process: {}",
                    entrance.factory().channel(),
                    e.getMessage());
            return;
        }
        if (!pool.isThere(knock.host(), knock.boot())) {
            // The client's host was reclaimed in the meantime, so its memory may be reused.
            return;
        }
        try {
            Handshake.ClientHello hello = Handshake.ClientHello.decode(knock.hello());
            entrance.factory().check(hello);
            requireRoom(hello.channel());
            connect(entrance, knock, hello);
        } catch (Handshake.MalformedException e) {
            refuse(knock, Status.Code.FAILED_PRECONDITION.with("the handshake failed: %s", e.getMessage()));
        } catch (RpcException e) {
            if (isLeaving()) {
                // First, so that the refused client sees that it may look for another server.
                entrance.door().change(owner, 0);
            }
            refuse(knock, e.status());
        } catch (OutOfArenaException e) {
            refuse(
                    knock,
                    Status.Code.RESOURCE_EXHAUSTED.with(
                            "the pool has no memory left for a connection: %s; ask for a smaller arenaQuota",
                            e.getMessage()));
        } catch (RuntimeException | Error e) {
            // An unanswered client would wait until its timeout.
            refuse(
                    knock,
                    Status.Code.RESOURCE_EXHAUSTED.with("the server cannot take a connection: %s", e.getMessage()));
            throw e;
        }
    }

    private static void refuse(PoolHandshake knock, Status status) {
        knock.answer(
                Handshake.ServerHello.refusal(status).encode(), PoolHandshake.Window.NONE, PoolHandshake.Window.NONE);
    }

    private void connect(Entrance entrance, PoolHandshake knock, Handshake.ClientHello hello) {
        ConnectionFactory factory = entrance.factory();
        PoolMemory.Tenant tenant = entrance.memory().admit(knock);
        Handshake.ServerHello serverHello = factory.join(hello, tenant::hasLeft);
        int number = serverHello.participant();
        connections.comes();
        ShmServerConnection connection;
        SharedFile file;
        try {
            file = tenant.take(factory.channel(), ConnectionFactory.bytes(serverHello), serverHello.slots());
        } catch (RuntimeException | Error e) {
            factory.giveIds(serverHello);
            turnAway(factory, tenant, number);
            throw e;
        }
        try {
            // A process that maps the pool may use all channels in it.
            connection = factory.connect(
                    tenant.bell(),
                    file,
                    serverHello,
                    knock.peer(),
                    Route.Kind.POOL,
                    _ -> Optional.empty(),
                    connections,
                    tenant::leave);
        } catch (RuntimeException | Error e) {
            turnAway(factory, tenant, number);
            throw e;
        }
        add(connection);
        knock.answer(serverHello.encode(), tenant.window(), entrance.memory().shared());
        connection.end.told();
    }

    private void turnAway(ConnectionFactory factory, PoolMemory.Tenant tenant, int number) {
        tenant.discard();
        notConnected();
        factory.shared().leave(number);
    }

    @Override
    public Optional<String> instance() {
        return Optional.of(PoolClient.name(owner));
    }

    // ---- the end

    @Override
    public void close() {
        admitNobody();
        stopping = true;
        join(porter);
        entrances.forEach(entrance -> unlessClosed(() -> entrance.door().change(owner, 0)));
        endCalls();
        for (Entrance entrance : entrances) {
            unlessClosed(() -> entrance.memory().close(entrance.factory().shared()));
            entrance.factory().close();
        }
    }

    /** Runs an action on the pool, unless the pool was closed before the server: then there is nothing left to do. */
    private void unlessClosed(Runnable action) {
        try {
            action.run();
        } catch (IllegalStateException e) {
            if (isPoolOpen()) {
                throw e;
            }
        }
    }

    private boolean isPoolOpen() {
        return pool.memory().scope().isAlive();
    }
}
