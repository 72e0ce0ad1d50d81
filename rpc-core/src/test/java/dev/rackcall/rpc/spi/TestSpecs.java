package dev.rackcall.rpc.spi;

import dev.rackcall.rpc.DeadlineClock;
import dev.rackcall.rpc.Dispatch;
import dev.rackcall.rpc.Isolation;
import dev.rackcall.rpc.SandboxPolicy;
import dev.rackcall.shm.waiting.WaitStrategy;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;

/** Specs on the system's clock, for tests of what lies below {@code RpcChannel} and {@code RpcServer}. */
public final class TestSpecs {
    private static final Duration PATIENCE = Duration.ofSeconds(30);

    private TestSpecs() {}

    /** A client on this host with four slots, whose callers block. */
    public static ClientSpec client(String channel, Path directory) {
        return new ClientSpec(
                channel,
                ClientSpec.Place.here(directory),
                WaitStrategy.blocking(),
                new ClientSpec.Capacity(4, ClientSpec.Capacity.NEAR_QUOTA),
                new ClientSpec.Timeouts(PATIENCE, PATIENCE, DeadlineClock.SYSTEM),
                ClientSpec.Sealing.DEFAULT);
    }

    /** Adaptive pollers, as many as given. */
    public static ServerSpec.Threads threads(Dispatch dispatch, int pollers, Duration stuckAfter) {
        return new ServerSpec.Threads(dispatch, WaitStrategy.adaptive(), OptionalInt.of(pollers), stuckAfter);
    }

    /** A server on this host that trusts its clients and has arenas of 1 MiB. */
    public static ServerSpec server(
            ServerSpec.Service<?> service, ServerSpec.Threads threads, int connections, Path directory) {
        return new ServerSpec(
                List.of(service),
                List.of(),
                List.of(),
                threads,
                new ServerSpec.Limits(connections, 1 << 20, 1 << 20),
                new ServerSpec.Trust(Isolation.TRUSTED, SandboxPolicy.STRICT, Map.of()),
                ServerSpec.Place.here(directory),
                DeadlineClock.SYSTEM);
    }
}
