package dev.rackcall.cp;

import static dev.rackcall.verbs.CompletionStatus.LOCAL_LENGTH_ERROR;
import static dev.rackcall.verbs.CompletionStatus.LOCAL_PROTECTION_ERROR;
import static dev.rackcall.verbs.CompletionStatus.LOCAL_QP_OPERATION_ERROR;
import static dev.rackcall.verbs.CompletionStatus.REMOTE_ACCESS_ERROR;
import static dev.rackcall.verbs.CompletionStatus.REMOTE_INVALID_REQUEST;
import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import dev.rackcall.cp.ControlPlaneException.Kind;
import dev.rackcall.cp.agent.Agent;
import dev.rackcall.cp.agent.LocalQueue;
import dev.rackcall.verbs.Access;
import dev.rackcall.verbs.CompletionStatus;
import dev.rackcall.verbs.Completions;
import dev.rackcall.verbs.MemoryRegion;
import dev.rackcall.verbs.QueuePairState;
import dev.rackcall.verbs.WorkRequest;
import java.lang.foreign.ValueLayout;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Requests of tenants over a shared queue pair. */
class VirtualQueueTest {
    private static final int BYTES = 4096;

    @RegisterExtension
    final Hosts hosts = newHosts();

    private final WorkRequest request = WorkRequest.create(5, 128);
    private Agent a;
    private Agent b;
    private Tenant tenant;
    private Tenant neighbour;
    private MemoryRegion ours;
    private MemoryRegion neighbours;
    private MemoryRegion theirs;
    private VirtualQueue queue;
    private VirtualQueue other;

    @BeforeEach
    void open() {
        b = hosts.agent("b");
        a = hosts.agent("a");
        tenant = admit(a, "tenant");
        neighbour = admit(a, "neighbour");
        ours = Hosts.region(tenant, BYTES);
        neighbours = Hosts.region(neighbour, BYTES);
        theirs = Hosts.region(b.admit("server"), BYTES);
        queue = tenant.connect(b.host());
        other = neighbour.connect(b.host());
    }

    /** The hosts, on the kind of devices to test. */
    protected Hosts newHosts() {
        return new Hosts(16);
    }

    /** The tenant that pushes and pops. */
    protected Tenant admit(Agent agent, String name) {
        return agent.admit(name);
    }

    protected final Hosts hosts() {
        return hosts;
    }

    private WorkRequest write(MemoryRegion from, long at, int length) {
        return request.write(theirs.address() + at, theirs.remoteKey()).from(from, at, length);
    }

    private WorkRequest write() {
        return request.write(theirs.address(), theirs.remoteKey());
    }

    private WorkRequest add(int offset) {
        return request.fetchAndAdd(theirs.address() + offset, theirs.remoteKey(), 1);
    }

    @Test
    void shouldSayWhetherLookingMovesAnything() {
        assertThat(queue.isMovedByLooks()).isEqualTo(queue instanceof LocalQueue && !Hosts.isReal());
        queue.look();
    }

    @Test
    void shouldReadWriteAndCount() {
        ours.memory().set(ValueLayout.JAVA_LONG, 0, 42);
        assertThat(queue.push(write(ours, 0, 8).id(1).signaled())).isTrue();
        assertThat(queue.push(request.fetchAndAdd(theirs.address(), theirs.remoteKey(), 3)
                        .from(ours, 8, 8)
                        .id(2)))
                .isTrue();
        assertThat(queue.push(request.compareAndSwap(theirs.address(), theirs.remoteKey(), 45, 7)
                        .from(ours, 16, 8)
                        .id(3)))
                .isTrue();
        assertThat(queue.push(request.read(theirs.address(), theirs.remoteKey())
                        .from(ours, 24, 8)
                        .id(4)
                        .signaled()))
                .isTrue();
        Hosts.succeeds(queue, 1, 4);
        assertThat(List.of(8, 16, 24).stream().map(at -> ours.memory().get(ValueLayout.JAVA_LONG, at)))
                .containsExactly(42L, 45L, 7L);
        Hosts.does(
                queue,
                request.write(theirs.address() + 64, theirs.remoteKey())
                        .inline(99)
                        .id(5)
                        .signaled());
        assertThat(theirs.memory().get(ValueLayout.JAVA_LONG, 64)).isEqualTo(99);
    }

    @Test
    void shouldTakeNoMoreThanItsDepthUntilPopped() {
        WorkRequest[] list = IntStream.range(0, 20)
                .mapToObj(i -> Hosts.read(theirs, ours, i))
                .toArray(WorkRequest[]::new);
        assertThat(queue.push(list, 20)).isEqualTo(16);
        assertThat(queue.push(list[16])).isFalse();
        assertThat(Hosts.pop(queue, 16).stream().map(Hosts.Done::id))
                .containsExactlyElementsOf(
                        IntStream.range(0, 16).mapToObj(i -> (long) i).toList());
        assertThat(queue.push(list[16])).isTrue();
    }

    @Test
    void shouldConnectToManyHostsOrToNone() {
        Agent c = hosts.agent("c");
        Tenant few = admit(hosts.agent("few", options -> options.withQuota(3, 2)), "few");
        MemoryRegion mine = Hosts.region(few, BYTES);
        for (int i = 0; i < 3; i++) {
            refuses(few, Kind.UNKNOWN_HOST, List.of(b.host(), HostId.named("nobody"), c.host()));
            refuses(few, Kind.QUOTA_EXCEEDED, List.of(b.host(), c.host(), b.host(), c.host()));
        }
        List<HostId> three = List.of(b.host(), c.host(), b.host());
        List<VirtualQueue> queues = new ArrayList<>();
        Hosts.waitUntil("the queues of failed attempts to be closed", () -> queues.addAll(connectAll(few, three)));
        assertThat(queues).extracting(VirtualQueue::host).containsExactlyElementsOf(three);
        for (VirtualQueue each : List.of(queues.getFirst(), queues.getLast())) {
            Hosts.does(each, write(mine, 0, 8).id(1).signaled());
        }
        assertThat(few.connect(List.of())).isEmpty();
    }

    /** With an agent process, the places of closed queues become free a little later. */
    private static void refuses(Tenant tenant, Kind kind, List<HostId> hosts) {
        Hosts.waitUntil("the refusal " + kind, () -> {
            try {
                tenant.connect(hosts).forEach(VirtualQueue::close);
                return false;
            } catch (ControlPlaneException e) {
                return e.kind() == kind;
            }
        });
    }

    private static List<VirtualQueue> connectAll(Tenant tenant, List<HostId> hosts) {
        try {
            return tenant.connect(hosts);
        } catch (ControlPlaneException e) {
            assertThat(e.kind()).isEqualTo(Kind.QUOTA_EXCEEDED);
            return List.of();
        }
    }

    private static Arguments bad(CompletionStatus status, String name, Refusal refusal) {
        return Arguments.of(name, status, refusal);
    }

    interface Refusal {
        WorkRequest make(VirtualQueueTest test);
    }

    static Stream<Arguments> refusals() {
        return Stream.of(
                bad(LOCAL_QP_OPERATION_ERROR, "a SEND", t -> t.request.send().inline(1)),
                bad(
                        LOCAL_QP_OPERATION_ERROR,
                        "a WRITE that consumes a receive request",
                        t -> t.request
                                .writeWithImmediate(t.theirs.address(), t.theirs.remoteKey(), 1)
                                .inline(1)),
                bad(LOCAL_QP_OPERATION_ERROR, "an operation that does not exist", t -> {
                    t.write(t.ours, 0, 8).struct().fill((byte) 0x7F);
                    return t.request;
                }),
                bad(
                        LOCAL_PROTECTION_ERROR,
                        "a local key that does not exist",
                        t -> t.write().from(t.ours.address(), 8, t.ours.localKey() + 1)),
                bad(LOCAL_PROTECTION_ERROR, "a neighbour's local key", t -> t.write(t.neighbours, 0, 8)),
                bad(
                        LOCAL_PROTECTION_ERROR,
                        "a byte more than the local region",
                        t -> t.write().from(t.ours.address() + 1, BYTES, t.ours.localKey())),
                bad(
                        LOCAL_PROTECTION_ERROR,
                        "a local address before the region",
                        t -> t.write().from(t.ours.address() - 1, 8, t.ours.localKey())),
                bad(
                        LOCAL_LENGTH_ERROR,
                        "a negative length",
                        t -> t.write().from(t.ours.address(), -1, t.ours.localKey())),
                bad(LOCAL_LENGTH_ERROR, "five segments", t -> {
                    t.request.read(t.theirs.address(), t.theirs.remoteKey());
                    for (int i = 0; i < 5; i++) {
                        t.request.from(t.ours, 0, 8);
                    }
                    return t.request;
                }),
                bad(LOCAL_LENGTH_ERROR, "65 bytes inline", t -> t.write().inline(t.ours.memory(), 0, 65)),
                bad(
                        REMOTE_ACCESS_ERROR,
                        "a remote key that does not exist",
                        t -> t.request
                                .write(t.theirs.address(), t.theirs.remoteKey() + 1)
                                .from(t.ours, 0, 8)),
                bad(
                        REMOTE_ACCESS_ERROR,
                        "the own host's key",
                        t -> t.request
                                .write(t.ours.address(), t.ours.remoteKey())
                                .from(t.ours, 0, 8)),
                bad(
                        REMOTE_ACCESS_ERROR,
                        "a byte more than the remote region",
                        t -> t.request
                                .write(t.theirs.address() + 1, t.theirs.remoteKey())
                                .from(t.ours, 0, BYTES)),
                bad(
                        REMOTE_ACCESS_ERROR,
                        "a remote address near the end of all addresses",
                        t -> t.request.write(-8, t.theirs.remoteKey()).from(t.ours, 0, 16)),
                bad(
                        REMOTE_INVALID_REQUEST,
                        "an atomic that is not aligned",
                        t -> t.add(4).from(t.ours, 0, 8)),
                bad(
                        REMOTE_INVALID_REQUEST,
                        "an atomic of 16 bytes",
                        t -> t.add(0).from(t.ours, 0, 16)));
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("refusals")
    void shouldRefuseBeforeTheSharedQueuePair(String name, CompletionStatus status, Refusal refusal) {
        queue.push(write(ours, 0, 8).id(1).signaled());
        other.push(Hosts.write(theirs, neighbours, 7));
        refusal.make(this);
        assertThat(queue.push(request)).isTrue();

        List<Hosts.Done> done = Hosts.pop(queue, 2);
        assertThat(done.getFirst()).isEqualTo(new Hosts.Done(1, CompletionStatus.SUCCESS));
        assertThat(done.get(1).status()).isEqualTo(status);
        assertThat(queue.state()).isEqualTo(QueuePairState.ERROR);
        assertThat(queue.failure()).isPresent();
        Hosts.succeeds(other, 7);
        assertThat(other.state()).isEqualTo(QueuePairState.READY_TO_SEND);
        assertThat(a.recoveries()).as("the shared queue pair never saw it").isZero();
    }

    @Test
    void shouldPushAndPopWithoutGarbage() {
        Agent patient = hosts.agent("patient", options -> options.withTimes(options.renewal(), Duration.ofHours(1)));
        Tenant thrifty = admit(patient, "thrifty");
        MemoryRegion own = Hosts.region(thrifty, 64);
        VirtualQueue calm = thrifty.connect(b.host());
        Completions batch = Completions.create(4);
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        long least = Long.MAX_VALUE;
        long start = System.nanoTime();
        // Several rounds, since the compiler allocates on this thread and the device's links grow their buffers.
        while (least >= 100 && System.nanoTime() - start < 3 * Hosts.PATIENCE_NANOS) {
            long before = threads.getCurrentThreadAllocatedBytes();
            for (int i = 0; i < 100; i++) {
                request.read(theirs.address(), theirs.remoteKey())
                        .from(own, 0, 8)
                        .id(i)
                        .signaled();
                calm.push(request);
                for (int looks = 1; calm.pop(batch) == 0; looks++) {
                    if (looks % 100 == 0) {
                        // An agent process's pump may need this processor.
                        Thread.yield();
                    } else {
                        Thread.onSpinWait();
                    }
                }
            }
            least = Math.min(least, threads.getCurrentThreadAllocatedBytes() - before);
        }
        assertThat(least).as("bytes of 100 requests").isLessThan(100);
    }

    @Test
    void shouldHeedTheRightsOfRegions() {
        Tenant server = b.admit("reader");
        MemoryRegion readable = Hosts.region(server, 64, EnumSet.of(Access.LOCAL_WRITE, Access.REMOTE_READ));
        queue.push(Hosts.read(readable, ours, 1));
        queue.push(Hosts.write(readable, ours, 2));
        assertThat(Hosts.pop(queue, 2))
                .containsExactly(
                        new Hosts.Done(1, CompletionStatus.SUCCESS),
                        new Hosts.Done(2, CompletionStatus.REMOTE_ACCESS_ERROR));

        MemoryRegion constant = Hosts.region(neighbour, 64, EnumSet.noneOf(Access.class));
        other.push(Hosts.read(theirs, constant, 3));
        assertThat(Hosts.pop(other, 1)).containsExactly(new Hosts.Done(3, CompletionStatus.LOCAL_PROTECTION_ERROR));
    }

    /** The region is closed while its record is still valid, so the shared queue pair fails and is restarted. */
    @Test
    void shouldLoseNothingOfOthersWhenTheSharedQueuePairFails() {
        Agent patient = hosts.agent("patient", options -> options.withTimes(options.renewal(), Duration.ofHours(1)));
        Tenant bad = admit(patient, "bad");
        Tenant good = admit(patient, "good");
        MemoryRegion badOurs = Hosts.region(bad, 64);
        MemoryRegion goodOurs = Hosts.region(good, 64);
        VirtualQueue badQueue = bad.connect(b.host());
        VirtualQueue goodQueue = good.connect(b.host());
        MemoryRegion brief = Hosts.region(b.admit("brief"), 64);
        badQueue.push(Hosts.write(brief, badOurs, 1));
        Hosts.pop(badQueue, 1);
        brief.close();

        goodOurs.memory().set(ValueLayout.JAVA_LONG, 0, 1);
        long sum = 0;
        for (int round = 0; round < 200; round++) {
            VirtualQueue culprit = bad.connect(b.host());
            for (int i = 0; i < 16; i++) {
                if (i == round % 16) {
                    culprit.push(Hosts.write(brief, badOurs, 66));
                }
                goodQueue.push(add(0).from(goodOurs, 8, 8).id(i).signaled());
                sum++;
            }
            Hosts.succeeds(goodQueue, LongStream.range(0, 16).toArray());
            assertThat(Hosts.pop(culprit, 1).getFirst().status()).isEqualTo(CompletionStatus.REMOTE_ACCESS_ERROR);
            culprit.close();
            if (patient.recoveries() > 0) {
                break;
            }
        }
        assertThat(patient.recoveries()).isPositive();
        assertThat(theirs.memory().get(ValueLayout.JAVA_LONG, 0))
                .as("each was done once")
                .isEqualTo(sum);
        assertThat(goodQueue.state()).isEqualTo(QueuePairState.READY_TO_SEND);
    }

    @Test
    void shouldFailOnlyTheQueuesToAPeerThatDies() throws Exception {
        Agent c = hosts.agent("c");
        MemoryRegion gone = Hosts.region(c.admit("t"), 64);
        VirtualQueue toDead = tenant.connect(c.host());
        request.write(gone.address(), gone.remoteKey()).from(ours, 0, 8).id(1).signaled();
        toDead.push(request);
        Hosts.pop(toDead, 1);
        hosts.drop(c);
        assertThat(toDead.push(request)).isTrue();
        other.push(Hosts.write(theirs, neighbours, 7));
        Hosts.succeeds(other, 7);
        assertThat(Hosts.pop(toDead, 1).getFirst().status()).isEqualTo(CompletionStatus.RETRY_EXCEEDED);
        assertThat(toDead.state()).isEqualTo(QueuePairState.ERROR);
    }

    @Test
    void shouldServeOthersWhileOneFloods() {
        Agent small = hosts.agent("small", options -> options.withDepth(16, 16));
        Tenant greedy = admit(small, "greedy");
        Tenant modest = admit(small, "modest");
        MemoryRegion greedyOurs = Hosts.region(greedy, 64);
        MemoryRegion modestOurs = Hosts.region(modest, 64);
        VirtualQueue[] floods =
                Stream.generate(() -> greedy.connect(b.host())).limit(50).toArray(VirtualQueue[]::new);
        VirtualQueue calm = modest.connect(b.host());
        WorkRequest ofGreedy = Hosts.read(theirs, greedyOurs, 0);
        WorkRequest ofModest = Hosts.read(theirs, modestOurs, 0);
        Completions batch = Completions.create(16);
        int taken = 0;
        for (int i = 0; i < 500; i++) {
            for (VirtualQueue flood : floods) {
                taken += flood.push(ofGreedy) ? 1 : 0;
                flood.pop(batch);
            }
            Hosts.does(calm, ofModest.id(i));
        }
        assertThat(taken).isPositive();
        assertThat(calm.state()).isEqualTo(QueuePairState.READY_TO_SEND);
    }

    @Test
    void shouldCloseATenantWithRequestsUnderWay() {
        for (int i = 0; i < 16; i++) {
            queue.push(request.read(theirs.address(), theirs.remoteKey())
                    .from(ours, 0, BYTES)
                    .id(i));
        }
        tenant.close();
        assertThat(queue.state()).isEqualTo(QueuePairState.RESET);
        other.push(Hosts.write(theirs, neighbours, 7));
        Hosts.succeeds(other, 7);
        assertThat(a.recoveries()).isZero();
    }
}
