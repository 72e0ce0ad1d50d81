package dev.rackcall.perf.connect;

import dev.rackcall.cp.HostId;
import dev.rackcall.cp.Tenant;
import dev.rackcall.cp.VirtualQueue;
import dev.rackcall.cp.agent.Agent;
import dev.rackcall.cp.agent.AgentOptions;
import dev.rackcall.cp.client.AgentFolder;
import dev.rackcall.perf.harness.ClientSide;
import dev.rackcall.perf.harness.ServerSide;
import dev.rackcall.perf.harness.Sides;
import dev.rackcall.perf.harness.Subject;
import dev.rackcall.perf.harness.WrongReplyException;
import dev.rackcall.perf.rdma.BenchDevice;
import dev.rackcall.perf.result.BenchTarget;
import dev.rackcall.verbs.Access;
import dev.rackcall.verbs.Completions;
import dev.rackcall.verbs.MemoryRegion;
import dev.rackcall.verbs.WorkRequest;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;

/**
 * Connects and closes over the software RDMA device: a virtual queue, or a new reliable queue pair.
 *
 * @param kind what one call does
 */
public record ConnectSides(Kind kind) implements Sides {
    private static final Duration PATIENCE = Duration.ofSeconds(10);

    /** What one call does. */
    public enum Kind {
        /** {@code connect-cached}. */
        CACHED("connect-cached", "a virtual queue to a host whose metadata is in the cache, opened and closed"),
        /** {@code connect-uncached}. */
        UNCACHED(
                "connect-uncached",
                "the same after the host's metadata was dropped: it is READ from the meta server's table; a device without"
                        + " dynamically connected queue pairs has the one to that host from the connection before"),
        /** {@code connect-first}. */
        FIRST(
                "connect-first",
                "the same to a host without connection or metadata, and a READ of 8 bytes there: the queue pair is connected,"
                        + " the host and its region are looked up"),
        /** {@code connect-agent}. */
        AGENT("connect-agent", "connect-cached by an agent in another process"),
        /** {@code connect-hop}. */
        HOP(
                "connect-hop",
                "an entry to an agent in another process and its answer: the time that the agent adds to a request"),
        /** {@code connect-fresh-rc}. */
        FRESH_RC(
                "connect-fresh-rc",
                "an RC queue pair made, told to the server over a TCP connection that is open already, connected at both"
                        + " ends, and closed; devices stay open"),
        /** {@code connect-read}. */
        READ(
                "connect-read",
                "one READ of 512 bytes, half of what is READ of the meta table, over an open RC queue pair");

        private final String word;
        private final String settings;

        Kind(String word, String settings) {
            this.word = word;
            this.settings = settings;
        }
    }

    public static List<Subject> subjects() {
        return Arrays.stream(Kind.values())
                .map(kind -> Subject.of(kind.word, 0, kind.settings, new ConnectSides(kind), Subject.Trait.SPINS)
                        .in(BenchTarget.CONNECT, "connect", Kind.FRESH_RC.word))
                .toList();
    }

    @Override
    public ServerSide serve(Path directory) throws IOException {
        return new ConnectServer(directory);
    }

    @Override
    public ClientSide connect(Path directory) throws IOException, InterruptedException {
        ConnectServer.Described server = ConnectServer.find(directory);
        return switch (kind) {
            case CACHED, UNCACHED, FIRST -> {
                Agent agent = Agent.open(
                        BenchDevice.get(),
                        AgentOptions.of(HostId.named("connect-client")).withMeta(server::meta));
                yield kind == Kind.FIRST ? new FirstRead(agent, server) : ownAgent(agent, server.epoch());
            }
            case AGENT -> {
                Tenant tenant = AgentFolder.join(directory, "bench");
                yield ClientSide.of(sequence -> open(tenant, server.epoch()), tenant::close);
            }
            case HOP -> {
                Tenant tenant = AgentFolder.join(directory, "bench");
                yield ClientSide.of(sequence -> hop(tenant), tenant::close);
            }
            case FRESH_RC -> new FreshQueuePairs(server.port());
            case READ -> new FreshQueuePairs.Reads(server.port());
        };
    }

    private ClientSide ownAgent(Agent agent, int epoch) {
        Tenant tenant = agent.admit("bench");
        return ClientSide.of(
                sequence -> {
                    if (kind == Kind.UNCACHED) {
                        agent.forget(ConnectServer.HOST);
                    }
                    open(tenant, epoch);
                },
                agent::close);
    }

    private static void hop(Tenant tenant) {
        if (!tenant.ping(PATIENCE)) {
            throw new IllegalStateException("the agent has not answered within " + PATIENCE);
        }
    }

    private static void open(Tenant tenant, int epoch) {
        try (VirtualQueue queue = tenant.connect(ConnectServer.HOST)) {
            WrongReplyException.check("connect", epoch, queue.epoch());
        }
    }

    /**
     * Connects again for each call and reads. The time counts until the first answer, because a connection may be
     * completed in the background.
     */
    private static final class FirstRead implements ClientSide {
        private final Agent agent;
        private final Tenant tenant;
        private final ConnectServer.Described server;
        private final MemoryRegion region;
        private final WorkRequest request = WorkRequest.create(1, 0);
        private final Completions batch = Completions.create(1);

        FirstRead(Agent agent, ConnectServer.Described server) {
            this.agent = agent;
            this.server = server;
            tenant = agent.admit("bench");
            region = tenant.register(Arena.global().allocate(8, 8), EnumSet.of(Access.LOCAL_WRITE));
        }

        @Override
        public void call(long sequence) {
            agent.disconnect(ConnectServer.HOST);
            try (VirtualQueue queue = tenant.connect(ConnectServer.HOST)) {
                request.read(server.address(), server.key())
                        .from(region, 0, Long.BYTES)
                        .id(sequence)
                        .signaled();
                if (!queue.push(request)) {
                    throw new IllegalStateException("a new virtual queue has no room");
                }
                long start = System.nanoTime();
                while (queue.pop(batch) == 0) {
                    if (System.nanoTime() - start > ClientSide.CALL_BOUND_NANOS) {
                        throw new IllegalStateException("the first READ has not completed within 10 s");
                    }
                    // The connecting thread may need this processor.
                    Thread.yield();
                }
                FreshQueuePairs.requireSuccess(batch, sequence);
            }
        }

        @Override
        public void close() {
            agent.close();
        }
    }
}
