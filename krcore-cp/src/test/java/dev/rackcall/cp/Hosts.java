package dev.rackcall.cp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.rackcall.cp.ControlPlaneException.Kind;
import dev.rackcall.cp.agent.Agent;
import dev.rackcall.cp.agent.AgentOptions;
import dev.rackcall.cp.agent.LocalTenant;
import dev.rackcall.cp.client.AgentFolder;
import dev.rackcall.cp.meta.MetaServer;
import dev.rackcall.cp.server.AgentServer;
import dev.rackcall.testkit.Await;
import dev.rackcall.verbs.Access;
import dev.rackcall.verbs.CompletionStatus;
import dev.rackcall.verbs.Completions;
import dev.rackcall.verbs.Device;
import dev.rackcall.verbs.Devices;
import dev.rackcall.verbs.MemoryRegion;
import dev.rackcall.verbs.WorkRequest;
import dev.rackcall.verbs.soft.SoftDevice;
import dev.rackcall.verbs.soft.SoftOptions;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.BooleanSupplier;
import java.util.function.UnaryOperator;
import java.util.stream.LongStream;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/** A meta server and agents on devices of this process. Closes what it opened, in reverse order. */
public final class Hosts implements AutoCloseable, AfterEachCallback {
    /** The device that all hosts share, from {@code -Drackcall.cp.device}; without it, each has a software device. */
    private static final Optional<String> REAL = Optional.ofNullable(System.getProperty("rackcall.cp.device"));

    public static final long PATIENCE_NANOS = (isReal() ? 3 : 1) * 20_000_000_000L;

    /** Longer than a busy machine delays a renewal. */
    public static final Duration LONG_LEASE = Duration.ofMinutes(1);

    /** For tests that wait for the end of a lease; hosts that renew must survive a pause of the machine. */
    public static final Duration SHORT_LEASE = Duration.ofSeconds(isReal() ? 6 : 4);

    public record Done(long id, CompletionStatus status) {}

    private final Deque<AutoCloseable> made = new ArrayDeque<>();
    private final Map<Agent, Path> doors = new HashMap<>();
    private final Map<Agent, AgentServer> servers = new HashMap<>();
    private final UnaryOperator<Device> kind;
    private final Duration lease;
    private volatile MetaServer meta;

    public Hosts(int capacity) {
        this(capacity, device -> device);
    }

    /** @param kind wraps each device */
    public Hosts(int capacity, UnaryOperator<Device> kind) {
        this(capacity, kind, LONG_LEASE);
    }

    /** @param lease of the meta server */
    public Hosts(int capacity, UnaryOperator<Device> kind, Duration lease) {
        this.kind = kind;
        this.lease = lease;
        meta = keep(MetaServer.open(kind.apply(device("meta")), capacity, lease));
    }

    public static Device device(String name) {
        return REAL.map(Devices::find).orElseGet(() -> SoftDevice.of(name, SoftOptions.local()));
    }

    public static boolean isReal() {
        return REAL.isPresent();
    }

    public MetaServer meta() {
        return meta;
    }

    public void restartMeta(int capacity) throws Exception {
        drop(meta);
        meta = MetaServer.open(kind.apply(device("meta")), capacity, lease);
        // Closed after the agents, so that they can deregister.
        made.addLast(meta);
    }

    /**
     * Starts another meta server that agents ask from now on. The former one continues, like a stopped one on hardware,
     * and keeps its hosts for a lease.
     */
    public void replaceMeta(int capacity) {
        meta = MetaServer.open(kind.apply(device("meta")), capacity, lease);
        made.addLast(meta);
    }

    public <T extends AutoCloseable> T keep(T child) {
        made.push(child);
        return child;
    }

    public void drop(AutoCloseable child) throws Exception {
        made.remove(child);
        child.close();
    }

    /** Closes an agent and its server, if it has one. */
    public void end(Agent agent) throws Exception {
        if (servers.containsKey(agent)) {
            drop(servers.remove(agent));
        }
        drop(agent);
    }

    public Agent agent(String name) {
        return agent(name, options -> options);
    }

    /** An agent that the caller closes. */
    public Agent unkept(String name) {
        Agent made = agent(name);
        this.made.remove(made);
        return made;
    }

    public Agent agent(String name, UnaryOperator<AgentOptions> change) {
        AgentOptions options = AgentOptions.of(HostId.named(name))
                .withMeta(() -> meta.address())
                .withTimes(Duration.ofMillis(200), Duration.ofMillis(200));
        return keep(Agent.open(kind.apply(device(name)), change.apply(options)));
    }

    /** A tenant of this agent through a session, as another process would have; closed before the agent. */
    public Tenant foreign(Agent agent, String name) {
        return keep(AgentFolder.join(doors.computeIfAbsent(agent, this::serve), name));
    }

    private Path serve(Agent agent) {
        try {
            Path folder = Files.createTempDirectory("rackcall-cp");
            keep(() -> Files.deleteIfExists(folder));
            servers.put(agent, keep(AgentServer.open(agent, folder)));
            return folder;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    public static MemoryRegion region(Tenant tenant, int bytes) {
        return region(tenant, bytes, EnumSet.allOf(Access.class));
    }

    public static MemoryRegion region(Tenant tenant, int bytes, Set<Access> rights) {
        if (!(tenant instanceof LocalTenant)) {
            return tenant.allocate(bytes, rights);
        }
        MemorySegment memory = Arena.ofAuto().allocate(bytes, 64);
        return tenant.register(memory, rights);
    }

    public static List<Done> pop(VirtualQueue queue, int count) {
        List<Done> all = new ArrayList<>();
        Completions batch = Completions.create(1);
        waitUntil(count + " completions", () -> {
            if (queue.pop(batch) == 1) {
                all.add(new Done(batch.id(0), batch.status(0)));
            }
            return all.size() == count;
        });
        return all;
    }

    /** The next completions are of these requests, which have succeeded. */
    public static void succeeds(VirtualQueue queue, long... ids) {
        assertThat(pop(queue, ids.length))
                .containsExactlyElementsOf(LongStream.of(ids)
                        .mapToObj(id -> new Done(id, CompletionStatus.SUCCESS))
                        .toList());
    }

    /** Pushes a signaled request, which succeeds. */
    public static void does(VirtualQueue queue, WorkRequest request) {
        assertThat(queue.push(request)).isTrue();
        succeeds(queue, request.id());
    }

    /** Options of a host that counts as dead after its lease. */
    public static AgentOptions neverRenewing(AgentOptions options) {
        return options.withTimes(Duration.ofDays(1), options.lanes().validity());
    }

    public static void fails(Kind kind, String part, ThrowingCallable call) {
        assertThatThrownBy(call)
                .isInstanceOfSatisfying(
                        ControlPlaneException.class, e -> assertThat(e.kind()).isEqualTo(kind))
                .hasMessageContaining(part);
    }

    /** A signaled WRITE of the first 8 bytes. */
    public static WorkRequest write(MemoryRegion to, MemoryRegion from, long id) {
        return first(WorkRequest.create(1, 0).write(to.address(), to.remoteKey()), from, id);
    }

    /** A signaled READ of the first 8 bytes. */
    public static WorkRequest read(MemoryRegion from, MemoryRegion into, long id) {
        return first(WorkRequest.create(1, 0).read(from.address(), from.remoteKey()), into, id);
    }

    /** A signaled FETCH_ADD of 1. */
    public static WorkRequest add(MemoryRegion to, MemoryRegion former, long id) {
        return first(WorkRequest.create(1, 0).fetchAndAdd(to.address(), to.remoteKey(), 1), former, id);
    }

    private static WorkRequest first(WorkRequest request, MemoryRegion local, long id) {
        return request.from(local, 0, 8).id(id).signaled();
    }

    public static void waitUntil(String what, BooleanSupplier condition) {
        Await.until(what, condition);
    }

    @Override
    public void afterEach(ExtensionContext context) throws Exception {
        close();
    }

    @Override
    public void close() throws Exception {
        while (!made.isEmpty()) {
            made.pop().close();
        }
    }
}
