package dev.rackcall.cp;

import static dev.rackcall.testkit.Thrown.assertThrown;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.rackcall.cp.ControlPlaneException.Kind;
import dev.rackcall.cp.agent.Agent;
import dev.rackcall.cp.client.Patience;
import dev.rackcall.shm.os.file.SharedFile;
import dev.rackcall.testkit.Await;
import dev.rackcall.testkit.Concurrently;
import dev.rackcall.verbs.Access;
import dev.rackcall.verbs.Context;
import dev.rackcall.verbs.Device;
import dev.rackcall.verbs.MemoryRegion;
import dev.rackcall.verbs.ProtectionDomain;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.EnumSet;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A device that takes long to register memory, like hardware that pins gigabytes. */
class SlowRegistrationTest {
    private static final int SLOW_BYTES = 77 * 4096;
    /** Longer than any wait in these tests. */
    private static final Duration LONG = Duration.ofMinutes(5);

    private static final long BOUND_SECONDS = Await.BOUND.toSeconds();

    private final CountDownLatch begun = new CountDownLatch(1);
    private final CountDownLatch mayEnd = new CountDownLatch(1);
    private final Hosts hosts = new Hosts(16, this::slow);
    private final AtomicInteger domainsClosed = new AtomicInteger();
    private Agent agent;
    private Agent peer;

    @BeforeEach
    void open() {
        agent = hosts.agent("a", options -> options.withQuota(8, 2));
        peer = hosts.agent("b");
    }

    @AfterEach
    void close() throws Exception {
        mayEnd.countDown();
        hosts.close();
    }

    private Device slow(Device device) {
        return Wrapping.of(
                Device.class,
                device,
                (method, _, inner) -> method.equals("open") ? slow((Context) inner.call()) : inner.call());
    }

    private Context slow(Context context) {
        return Wrapping.of(
                Context.class,
                context,
                (method, _, inner) -> method.equals("allocateProtectionDomain")
                        ? slow((ProtectionDomain) inner.call())
                        : inner.call());
    }

    private ProtectionDomain slow(ProtectionDomain domain) {
        return Wrapping.of(ProtectionDomain.class, domain, (method, arguments, inner) -> {
            if (method.equals("close")) {
                domainsClosed.incrementAndGet();
            }
            if (method.equals("register") && ((MemorySegment) arguments[0]).byteSize() == SLOW_BYTES) {
                begun.countDown();
                Await.latch(mayEnd);
            }
            return inner.call();
        });
    }

    private CompletableFuture<MemoryRegion> registering(Tenant tenant) {
        CompletableFuture<MemoryRegion> region =
                Concurrently.start(() -> Patience.within(LONG, () -> Hosts.region(tenant, SLOW_BYTES)));
        Await.latch(begun);
        return region;
    }

    @Test
    void shouldConnectWhileMemoryIsBeingRegistered() throws Exception {
        Tenant tenant = agent.admit("t");
        CompletableFuture<MemoryRegion> region = registering(tenant);
        CompletableFuture<VirtualQueue> queue = Concurrently.start(() -> tenant.connect(peer.host()));
        assertThat(queue.get(BOUND_SECONDS, TimeUnit.SECONDS).host()).isEqualTo(peer.host());
        assertThat(region).isNotDone();
        mayEnd.countDown();
        assertThat(region.get(BOUND_SECONDS, TimeUnit.SECONDS).byteSize()).isEqualTo(SLOW_BYTES);
    }

    @Test
    void shouldCountWhatIsBeingRegistered() throws Exception {
        Tenant tenant = agent.admit("t");
        CompletableFuture<MemoryRegion> slow = registering(tenant);
        Hosts.region(tenant, 64);
        Hosts.fails(Kind.QUOTA_EXCEEDED, "", () -> Hosts.region(tenant, 64));
        mayEnd.countDown();
        slow.get(BOUND_SECONDS, TimeUnit.SECONDS).close();
        Hosts.region(tenant, 64);
    }

    @Test
    void shouldNotLeaveARegionToATenantThatWasClosedMeanwhile() throws Exception {
        Tenant tenant = agent.admit("t");
        CompletableFuture<MemoryRegion> region = registering(tenant);
        tenant.close();
        mayEnd.countDown();
        assertThrown(ExecutionException.class, () -> region.get(BOUND_SECONDS, TimeUnit.SECONDS), "is closed");
    }

    @Test
    void shouldNotCloseTheDeviceUnderARegistration() throws Exception {
        Agent closed = hosts.unkept("c");
        CompletableFuture<MemoryRegion> region = registering(closed.admit("t"));
        int before = domainsClosed.get();
        FutureTask<Void> closing = new FutureTask<>(closed::close, null);
        Thread thread = Thread.ofPlatform().daemon().start(closing);
        Hosts.waitUntil("it waits, or goes on", () -> domainsClosed.get() > before || isIn(thread, "PendingRegions"));
        assertThat(domainsClosed).hasValue(before);
        mayEnd.countDown();
        closing.get(BOUND_SECONDS, TimeUnit.SECONDS);
        assertThatThrownBy(() -> region.get(BOUND_SECONDS, TimeUnit.SECONDS)).hasMessageContaining("is closed");
    }

    private static boolean isIn(Thread thread, String type) {
        return Stream.of(thread.getStackTrace())
                .anyMatch(frame -> frame.getClassName().endsWith("." + type)
                        && frame.getMethodName().startsWith("await"));
    }

    @Test
    void shouldGiveBackWhatTheAgentProcessRegistersForAThreadThatHasGivenUp() throws Exception {
        Tenant tenant = hosts.foreign(agent, "t");
        FutureTask<MemoryRegion> slow = new FutureTask<>(() -> Hosts.region(tenant, SLOW_BYTES));
        Thread waiting = Thread.ofPlatform().daemon().start(slow);
        Await.latch(begun);
        waiting.interrupt();
        assertThrown(
                ExecutionException.class,
                () -> slow.get(BOUND_SECONDS, TimeUnit.SECONDS),
                "interrupted while waiting for the agent process");
        mayEnd.countDown();
        Hosts.region(tenant, 64);
        Hosts.waitUntil("the place of the abandoned region", () -> canRegister(tenant));
    }

    @Test
    void shouldGiveBackWhatTheAgentProcessHasRegisteredWrongly() throws Exception {
        Tenant tenant = hosts.foreign(agent, "t");
        for (int i = 0; i < 3; i++) {
            try (SharedFile whole = SharedFile.memfd("whole", 8192)) {
                SharedFile half = whole.window(0, 4096);
                assertThatThrownBy(() -> tenant.share(half, EnumSet.of(Access.LOCAL_WRITE)))
                        .hasMessageContainingAll("registered 8192 bytes", "not all");
            }
        }
        Hosts.region(tenant, 64);
        Hosts.region(tenant, 64);
    }

    /** Threads that serve many connections close regions; they must not wait for another connection's large region. */
    @Test
    void shouldCloseAndConnectWhileAnotherThreadRegistersAtAnAgentProcess() throws Exception {
        Tenant tenant = hosts.foreign(agent, "t");
        MemoryRegion first = Hosts.region(tenant, 64);
        CompletableFuture<MemoryRegion> slow = registering(tenant);
        first.close();
        tenant.connect(peer.host()).close();
        tenant.bind(7).close();
        assertThat(slow).isNotDone();
        mayEnd.countDown();
        assertThat(slow.get(BOUND_SECONDS, TimeUnit.SECONDS).byteSize()).isEqualTo(SLOW_BYTES);
        // In the place of the first region.
        Hosts.region(tenant, 64);
    }

    /** More messages than a socket buffers. */
    @Test
    void shouldGiveBackRegionsThatWereClosedWhileTheAgentProcessDidNotListen() throws Exception {
        int regions = 1000;
        Agent roomy = hosts.agent("roomy", options -> options.withQuota(8, regions + 1));
        Tenant tenant = hosts.foreign(roomy, "t");
        List<MemoryRegion> all = registered(tenant, regions);
        CompletableFuture<MemoryRegion> slow = registering(tenant);
        all.forEach(MemoryRegion::close);
        assertThat(slow).isNotDone();
        mayEnd.countDown();
        registered(tenant, regions);
        slow.get(BOUND_SECONDS, TimeUnit.SECONDS).close();
    }

    private static List<MemoryRegion> registered(Tenant tenant, int count) {
        return Patience.within(
                LONG,
                () -> Stream.generate(() -> Hosts.region(tenant, 64))
                        .limit(count)
                        .toList());
    }

    private static boolean canRegister(Tenant tenant) {
        try {
            Hosts.region(tenant, 64);
            return true;
        } catch (ControlPlaneException e) {
            assertThat(e.kind()).isEqualTo(Kind.QUOTA_EXCEEDED);
            return false;
        }
    }
}
