package dev.rackcall.soak;

import dev.rackcall.rdma.RdmaSettings;
import dev.rackcall.rpc.RpcChannel;
import dev.rackcall.rpc.chaos.ChaosCaller;
import dev.rackcall.rpc.chaos.ChaosCalm;
import dev.rackcall.shm.pool.Pool;
import dev.rackcall.shm.pool.TwoHosts;
import dev.rackcall.shm.waiting.WaitStrategy;
import dev.rackcall.soak.SoakClient.SoakCaller;
import dev.rackcall.soak.SoakClient.SoakConnection;
import dev.rackcall.testkit.Await;
import dev.rackcall.verbs.soft.FaultPlan;
import dev.rackcall.verbs.soft.SoftOptions;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/** Opens a client's connections over its transport. */
final class SoakConnections {
    private static final long ARENA_BYTES = 4 << 20;
    private static final int MOST_LATENCY_MICROS = 2_000;
    private static final long CUT_NANOS = TimeUnit.MILLISECONDS.toNanos(500);

    private final SoakTransport transport;
    /** The clients' own end of the pool, if they share one. */
    private final Optional<Pool> pool;

    SoakConnections(SoakTransport transport, Path root, int number) {
        this.transport = transport;
        pool = transport.isPool() ? Optional.of(TwoHosts.host(SoakTransport.poolFile(root), number)) : Optional.empty();
    }

    /** Makes this process's software devices slow, lossy and apt to lose their connections. */
    static void injectFaults(SoakTransport transport, long seed) {
        if (transport != SoakTransport.SOFT && transport != SoakTransport.TLS) {
            return;
        }
        Random random = new Random(seed);
        FaultPlan faults = FaultPlan.withSeed(seed)
                .latency(Duration.ofNanos(TimeUnit.MICROSECONDS.toNanos(random.nextInt(MOST_LATENCY_MICROS))));
        RdmaSettings.softwareDevices(SoftOptions.local().withFaults(faults));
        Thread.ofPlatform().daemon().name("soak-faults").start(() -> {
            while (true) {
                LockSupport.parkNanos((long) (random.nextDouble() * CUT_NANOS));
                faults.cutConnections();
            }
        });
    }

    SoakConnection open(String channel, String address, boolean serverDies) {
        if (transport == SoakTransport.GRPC) {
            return new GrpcSoakConnection(channel, serverDies);
        }
        RpcChannel.Builder builder = RpcChannel.builder(channel)
                .slots(ChaosCalm.SLOTS)
                .arenaQuota(ARENA_BYTES)
                .waiting(serverDies ? WaitStrategy.blocking() : WaitStrategy.adaptive())
                // One attempt may exceed the time limits while processes load their code.
                .waitForReady(Await.BOUND);
        pool.ifPresent(builder::pool);
        if (!address.equals("-")) {
            builder.address(URI.create(address));
        }
        return new Connection(builder.open(), serverDies, serverDies || transport.endsBySilence());
    }

    private static final class Connection implements SoakConnection {
        private final RpcChannel channel;
        private final boolean serverDies;
        /** Whether calls may be UNAVAILABLE. */
        private final boolean ends;

        private final ChaosCalm calm;

        Connection(RpcChannel channel, boolean serverDies, boolean ends) {
            this.channel = channel;
            this.serverDies = serverDies;
            this.ends = ends;
            calm = new ChaosCalm(channel);
        }

        @Override
        public SoakCaller caller(long seed) {
            ChaosCaller caller = new ChaosCaller(seed, List.of(channel), ends);
            return new SoakCaller() {
                @Override
                public void call() {
                    caller.call();
                }

                @Override
                public void end() {
                    caller.end();
                }

                @Override
                public long answered() {
                    return caller.succeeded();
                }
            };
        }

        @Override
        public void check() {
            // While its server is dead there is nothing to call.
            if (!serverDies) {
                calm.check();
            }
        }

        @Override
        public void close() {
            channel.close();
        }
    }
}
