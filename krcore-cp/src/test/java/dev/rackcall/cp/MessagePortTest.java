package dev.rackcall.cp;

import static dev.rackcall.testkit.Thrown.assertThrown;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.rackcall.cp.ControlPlaneException.Kind;
import dev.rackcall.cp.agent.Agent;
import dev.rackcall.testkit.Await;
import dev.rackcall.verbs.Access;
import dev.rackcall.verbs.CompletionStatus;
import dev.rackcall.verbs.Completions;
import dev.rackcall.verbs.MemoryRegion;
import dev.rackcall.verbs.QueuePairState;
import dev.rackcall.verbs.WorkRequest;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.EnumSet;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Messages between tenants of agents. */
class MessagePortTest {
    private static final int PORT = 7;
    private static final int BYTES = 1 << 20;

    @RegisterExtension
    final Hosts hosts = newHosts();

    private final WorkRequest request = WorkRequest.create(2, 64);
    private Agent a;
    private Agent b;
    private Tenant sender;
    private Tenant receiver;
    private MemoryRegion outgoing;
    private MemoryRegion incoming;
    private MessagePort port;
    private VirtualQueue queue;

    @BeforeEach
    void open() {
        a = hosts.agent("a");
        b = hosts.agent("b");
        sender = admit(a, "sender");
        receiver = admit(b, "receiver");
        outgoing = Hosts.region(sender, BYTES);
        incoming = Hosts.region(receiver, BYTES, EnumSet.of(Access.LOCAL_WRITE));
        port = receiver.bind(PORT);
        queue = sender.connect(b.host());
    }

    /** The hosts, on the kind of devices to test. */
    Hosts newHosts() {
        return new Hosts(16);
    }

    /** The tenant that sends or receives. */
    Tenant admit(Agent agent, String name) {
        return agent.admit(name);
    }

    final Hosts hosts() {
        return hosts;
    }

    private WorkRequest message(int offset, int length, long id) {
        return request.sendWithImmediate(PORT)
                .from(outgoing, offset, length)
                .id(id)
                .signaled();
    }

    private record Came(long id, int bytes, HostId host) {}

    private static List<Came> receive(MessagePort port, int count) {
        List<Came> all = new ArrayList<>();
        Arrivals batch = Arrivals.create(3);
        Hosts.waitUntil(count + " messages", () -> {
            int came = port.receive(batch);
            for (int i = 0; i < came; i++) {
                all.add(new Came(batch.id(i), batch.bytes(i), batch.host(i)));
            }
            return all.size() >= count;
        });
        return all;
    }

    @Test
    void shouldDeliverAMessageIntoTheMemoryThatIsGiven() {
        outgoing.memory().set(ValueLayout.JAVA_LONG, 8, 0xC0FFEE);
        assertThat(port.give(incoming, 64, 100, 5)).isTrue();
        assertThat(queue.push(message(8, 8, 1))).isTrue();
        assertThat(receive(port, 1)).containsExactly(new Came(5, 8, a.host()));
        assertThat(incoming.memory().get(ValueLayout.JAVA_LONG, 64)).isEqualTo(0xC0FFEE);
        Hosts.succeeds(queue, 1);
    }

    @Test
    void shouldReportAMessageToATenantThatDoesNotPoll() {
        AtomicInteger came = new AtomicInteger();
        MessagePort told = receiver.bind(PORT + 2, came::incrementAndGet);
        told.give(incoming, 0, 100, 5);
        queue.push(request.sendWithImmediate(PORT + 2).inline(7).id(1).signaled());
        Hosts.waitUntil("the callback", () -> came.get() == 1);
        assertThat(receive(told, 1)).containsExactly(new Came(5, 8, a.host()));
        told.close();
        MessagePort untold = receiver.bind(PORT + 2);
        untold.give(incoming, 0, 100, 6);
        queue.push(request.sendWithImmediate(PORT + 2).inline(7).id(2).signaled());
        assertThat(receive(untold, 1)).containsExactly(new Came(6, 8, a.host()));
        assertThat(came.get()).isEqualTo(1);
    }

    /** Its regions are closed before its ports. */
    @Test
    void shouldTakeNoMemoryOfATenantThatIsClosed() {
        receiver.close();
        Hosts.fails(ControlPlaneException.Kind.QUEUE_FAILED, "", () -> port.give(incoming, 0, 64, 1));
    }

    @Test
    void shouldSendInlineAndSeveralSegmentsAndNothing() {
        outgoing.memory().set(ValueLayout.JAVA_INT, 0, 1);
        outgoing.memory().set(ValueLayout.JAVA_INT, 100, 2);
        for (int i = 0; i < 3; i++) {
            port.give(incoming, 64L * i, 64, i);
        }
        queue.push(request.sendWithImmediate(PORT).inline(7).id(1).signaled());
        queue.push(request.sendWithImmediate(PORT)
                .from(outgoing, 0, 4)
                .from(outgoing, 100, 4)
                .id(2)
                .signaled());
        queue.push(request.sendWithImmediate(PORT).id(3).signaled());
        assertThat(receive(port, 3))
                .containsExactly(new Came(0, 8, a.host()), new Came(1, 8, a.host()), new Came(2, 0, a.host()));
        assertThat(incoming.memory().get(ValueLayout.JAVA_LONG, 0)).isEqualTo(7);
        assertThat(incoming.memory().get(ValueLayout.JAVA_INT, 64)).isEqualTo(1);
        assertThat(incoming.memory().get(ValueLayout.JAVA_INT, 68)).isEqualTo(2);
        Hosts.succeeds(queue, 1, 2, 3);
    }

    @Test
    void shouldCompleteInOrderAndOnlyWhenTheReceiverHasTheMessage() throws Exception {
        MemoryRegion theirs = Hosts.region(b.admit("target"), 64);
        queue.push(message(0, 8, 1));
        outgoing.memory().set(ValueLayout.JAVA_LONG, 16, 42);
        queue.push(request.write(theirs.address(), theirs.remoteKey())
                .from(outgoing, 16, 8)
                .id(2)
                .signaled());
        Completions batch = Completions.create(4);
        Hosts.waitUntil("the WRITE", () -> {
            assertThat(queue.pop(batch))
                    .as("the message has not been received yet")
                    .isZero();
            return (long) ValueLayout.JAVA_LONG.varHandle().getVolatile(theirs.memory(), 0L) == 42;
        });
        assertThat(queue.pop(batch)).isZero();
        port.give(incoming, 0, 64, 9);
        Hosts.succeeds(queue, 1, 2);
        assertThat(receive(port, 1)).containsExactly(new Came(9, 8, a.host()));
    }

    /** Short and long messages, with memory given early and late. */
    @Test
    void shouldDeliverInOrderWithoutMixingUpAnything() {
        long seed = new Random().nextLong();
        RandomGenerator random = new Random(seed);
        int messages = 300;
        int slot = 20_000;
        Deque<Integer> lengths = new ArrayDeque<>();
        List<Came> came = new ArrayList<>();
        Completions batch = Completions.create(8);
        Arrivals arrivals = Arrivals.create(8);
        int[] count = new int[3];
        List<Long> ended = new ArrayList<>();
        Hosts.waitUntil("all, seed " + seed, () -> {
            int sent = count[0];
            if (sent < messages && sent - ended.size() < 12 && random.nextInt(3) > 0) {
                int length = random.nextInt(4) == 0 ? random.nextInt(slot) : random.nextInt(600);
                int at = sent % 16 * slot;
                fill(outgoing.memory().asSlice(at, length), sent);
                if (queue.push(message(at, length, sent))) {
                    lengths.add(length);
                    count[0]++;
                }
            }
            int given = count[1];
            if (given < messages && random.nextInt(3) > 0) {
                count[1] += port.give(incoming, (long) (given % 16) * slot, slot, given) ? 1 : 0;
            }
            int done = queue.pop(batch);
            for (int i = 0; i < done; i++) {
                assertThat(batch.status(i)).as("seed %d", seed).isEqualTo(CompletionStatus.SUCCESS);
                ended.add(batch.id(i));
            }
            int arrived = port.receive(arrivals);
            for (int i = 0; i < arrived; i++) {
                int number = came.size();
                came.add(new Came(arrivals.id(i), arrivals.bytes(i), arrivals.host(i)));
                assertThat(arrivals.id(i)).as("seed %d", seed).isEqualTo(number);
                assertThat(arrivals.bytes(i)).as("seed %d", seed).isEqualTo(lengths.poll());
                check(incoming.memory().asSlice((long) (number % 16) * slot, arrivals.bytes(i)), number, seed);
            }
            return came.size() == messages && ended.size() == messages;
        });
        assertThat(ended).as("seed %d", seed).isSorted();
    }

    private static void fill(MemorySegment memory, int number) {
        for (long i = 0; i < memory.byteSize(); i++) {
            memory.set(ValueLayout.JAVA_BYTE, i, (byte) (number * 31L + i));
        }
    }

    private static void check(MemorySegment memory, int number, long seed) {
        for (long i = 0; i < memory.byteSize(); i++) {
            if (memory.get(ValueLayout.JAVA_BYTE, i) != (byte) (number * 31L + i)) {
                throw new AssertionError("byte " + i + " of message " + number + ", seed " + seed);
            }
        }
    }

    private void refused(VirtualQueue from, WorkRequest message, CompletionStatus status, String part) {
        assertThat(from.push(message)).isTrue();
        assertThat(Hosts.pop(from, 1)).containsExactly(new Hosts.Done(message.id(), status));
        assertThat(from.state()).isEqualTo(QueuePairState.ERROR);
        assertThat(from.failure()).hasValueSatisfying(text -> assertThat(text).contains(part));
    }

    @Test
    void shouldRefuseMessagesToUnboundPortsAndLetOthersGoOn() {
        VirtualQueue other = sender.connect(b.host());
        refused(
                queue,
                request.sendWithImmediate(PORT + 1).from(outgoing, 0, 8).id(3).signaled(),
                CompletionStatus.REMOTE_INVALID_REQUEST,
                "the port is not bound");
        port.give(incoming, 0, 64, 1);
        other.push(message(0, 8, 4));
        Hosts.succeeds(other, 4);
        assertThat(receive(port, 1)).containsExactly(new Came(1, 8, a.host()));
        port.close();
        // After the ping an agent process has closed it, too.
        assertThat(receiver.ping(Await.BOUND)).isTrue();
        refused(other, message(0, 8, 5), CompletionStatus.REMOTE_INVALID_REQUEST, "the port is not bound");
        Hosts.fails(Kind.QUEUE_FAILED, "", () -> port.receive(Arrivals.create(1)));
    }

    @Test
    void shouldFailMessagesThatWaitForAPortThatIsClosed() {
        queue.push(message(0, 8, 1));
        queue.push(message(0, 5000, 2));
        port.close();
        assertTwoFail();
    }

    private void assertTwoFail() {
        List<Hosts.Done> ended = Hosts.pop(queue, 2);
        assertThat(ended).map(Hosts.Done::id).containsExactly(1L, 2L);
        assertThat(ended).map(Hosts.Done::status).doesNotContain(CompletionStatus.SUCCESS);
    }

    @Test
    void shouldKeepTheMemoryOfAMessageThatIsTooLongForTheNext() {
        VirtualQueue other = sender.connect(b.host());
        port.give(incoming, 0, 64, 1);
        refused(queue, message(0, 65, 1), CompletionStatus.REMOTE_INVALID_REQUEST, "longer than the memory");
        refused(other, message(0, 5000, 2), CompletionStatus.REMOTE_INVALID_REQUEST, "longer than the memory");
        VirtualQueue third = sender.connect(b.host());
        third.push(message(0, 64, 3));
        assertThat(receive(port, 1)).containsExactly(new Came(1, 64, a.host()));
    }

    @Test
    void shouldRefuseALongMessageThatTheReceiverMayNotRead() {
        MemoryRegion closed = Hosts.region(sender, 4096, EnumSet.of(Access.LOCAL_WRITE));
        port.give(incoming, 0, 4096, 1);
        queue.push(request.sendWithImmediate(PORT).from(closed, 0, 512).id(1).signaled());
        // Short messages are copied.
        Hosts.succeeds(queue, 1);
        refused(
                queue,
                request.sendWithImmediate(PORT).from(closed, 0, 513).id(2).signaled(),
                CompletionStatus.LOCAL_PROTECTION_ERROR,
                "that its receiver READs");
    }

    @Test
    void shouldLetOneTenantHaveAPort() {
        Tenant other = admit(b, "other");
        Hosts.fails(Kind.REFUSED, "receiver", () -> other.bind(PORT));
        port.close();
        // After the ping an agent process has closed it, too; operations of two tenants have no order.
        assertThat(receiver.ping(Await.BOUND)).isTrue();
        try (MessagePort again = other.bind(PORT)) {
            assertThat(again.number()).isEqualTo(PORT);
        }
    }

    @Test
    void shouldNotTakeMemoryOfOthers() {
        Tenant other = admit(b, "other");
        MemoryRegion foreign = Hosts.region(other, 64);
        MessagePort own = other.bind(PORT + 1);
        assertThatThrownBy(() -> {
                    own.give(incoming, 0, 64, 1);
                    // An agent process reports this a little later.
                    Hosts.waitUntil("the port to fail", () -> own.receive(Arrivals.create(1)) > 0);
                })
                .hasMessageContaining("may not be written by tenant other");
        assertThrown(IllegalArgumentException.class, () -> port.give(foreign, foreign.byteSize() - 1, 2, 1));
        port.give(incoming, 0, 64, 1);
        queue.push(message(0, 8, 1));
        Hosts.succeeds(queue, 1);
    }

    /** A sender that floods a port takes at most half of its places. */
    @Test
    void shouldLeaveRoomForOthersWhenOneFloodsAPort() {
        Tenant hostile = admit(a, "hostile");
        MemoryRegion theirs = Hosts.region(hostile, 64);
        List<VirtualQueue> flood = new ArrayList<>();
        boolean[] refused = new boolean[1];
        int[] pushed = new int[1];
        Completions batch = Completions.create(16);
        Hosts.waitUntil("a refusal", () -> {
            if (pushed[0] == 16 * flood.size() && flood.size() < 64) {
                flood.add(hostile.connect(b.host()));
            }
            while (pushed[0] < 16 * flood.size()
                    && hasPushed(
                            flood.getLast(),
                            request.sendWithImmediate(PORT).from(theirs, 0, 8).id(1))) {
                pushed[0]++;
            }
            for (VirtualQueue each : flood) {
                int count = each.pop(batch);
                for (int i = 0; i < count; i++) {
                    refused[0] |= batch.status(i) == CompletionStatus.RNR_RETRY_EXCEEDED;
                }
            }
            return refused[0];
        });
        assertThat(queue.push(message(0, 8, 1))).isTrue();
        flood.forEach(VirtualQueue::close);
        int[] given = new int[1];
        Arrivals arrivals = Arrivals.create(16);
        List<Hosts.Done> ours = new ArrayList<>();
        Hosts.waitUntil("the other's message", () -> {
            while (port.give(incoming, 0, 64, given[0])) {
                given[0]++;
            }
            port.receive(arrivals);
            int count = queue.pop(batch);
            if (count > 0) {
                ours.add(new Hosts.Done(batch.id(0), batch.status(0)));
            }
            return !ours.isEmpty();
        });
        assertThat(ours).containsExactly(new Hosts.Done(1, CompletionStatus.SUCCESS));
    }

    private static boolean hasPushed(VirtualQueue queue, WorkRequest message) {
        try {
            return queue.push(message);
        } catch (ControlPlaneException refusedMeanwhile) {
            return false;
        }
    }

    @Test
    void shouldAnswerOverAQueueToTheSendersHost() {
        MessagePort replies = sender.bind(PORT);
        replies.give(outgoing, 4096, 64, 11);
        port.give(incoming, 0, 64, 1);
        queue.push(message(0, 8, 1));
        HostId from = receive(port, 1).getFirst().host();
        MemoryRegion answers = Hosts.region(receiver, 64);
        VirtualQueue back = receiver.connect(from);
        back.push(request.sendWithImmediate(PORT).from(answers, 0, 16).id(2).signaled());
        assertThat(receive(replies, 1)).containsExactly(new Came(11, 16, b.host()));
        Hosts.succeeds(back, 2);
    }

    @Test
    void shouldSendToItsOwnHost() {
        MessagePort own = sender.bind(PORT + 2);
        own.give(outgoing, 8192, 4096, 1);
        own.give(outgoing, 16_384, 4096, 2);
        VirtualQueue loop = sender.connect(a.host());
        loop.push(request.sendWithImmediate(PORT + 2).from(outgoing, 0, 8).id(1).signaled());
        loop.push(request.sendWithImmediate(PORT + 2)
                .from(outgoing, 0, 4000)
                .id(2)
                .signaled());
        assertThat(receive(own, 2)).containsExactly(new Came(1, 8, a.host()), new Came(2, 4000, a.host()));
        Hosts.succeeds(loop, 1, 2);
    }

    @Test
    void shouldNotWaitForAReceiverThatHasGone() throws Exception {
        queue.push(message(0, 8, 1));
        queue.push(message(0, 5000, 2));
        hosts.end(b);
        assertTwoFail();
    }
}
