package dev.rackcall.cp.control;

import dev.rackcall.cp.ControlAddress;
import dev.rackcall.verbs.Access;
import dev.rackcall.verbs.AddressHandle;
import dev.rackcall.verbs.CompletionChannel;
import dev.rackcall.verbs.CompletionQueue;
import dev.rackcall.verbs.CompletionQueueSpec;
import dev.rackcall.verbs.Completions;
import dev.rackcall.verbs.Gid;
import dev.rackcall.verbs.InitAttributes;
import dev.rackcall.verbs.MemoryRegion;
import dev.rackcall.verbs.QueuePair;
import dev.rackcall.verbs.QueuePairSpec;
import dev.rackcall.verbs.QueuePairState;
import dev.rackcall.verbs.QueuePairType;
import dev.rackcall.verbs.ReadyToReceive;
import dev.rackcall.verbs.ReadyToSend;
import dev.rackcall.verbs.ReceiveRequest;
import dev.rackcall.verbs.VerbsException;
import dev.rackcall.verbs.WorkRequest;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.EnumSet;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Consumer;

/**
 * Sends and receives control messages as datagrams of a UD queue pair. Datagrams may get lost; {@link ControlPort}
 * sends them again.
 */
final class ControlDatagrams {
    private static final int QUEUE_KEY = 0x52434350;
    /** The place of the sender's GID in the global header. */
    private static final int SENDER = 8;

    private static final int SLOTS = 64;
    /** The global header before a datagram. */
    private static final int GLOBAL_HEADER_BYTES = 40;

    private static final int SLOT_BYTES = 640;
    private static final int MAX_HANDLES = 256;

    private final HostDevice end;
    private final CompletionChannel channel;
    private final CompletionQueue received;
    private final CompletionQueue sent;
    private final QueuePair queuePair;
    private final MemoryRegion region;
    private final MemorySegment memory;
    private final ReceiveRequest receive = ReceiveRequest.create(1);
    private final Completions arrived = Completions.create(16);
    private final Object sending = new Object();
    private final WorkRequest request = WorkRequest.create(1, 0);
    private final Completions done = Completions.create(16);
    /** In LRU order. */
    private final Map<Gid, AddressHandle> handles = new LinkedHashMap<>(16, 0.75f, true);

    private int next;
    private int underWay;
    /** Nothing is sent any more, since the queues are about to be closed. */
    private boolean closed;

    ControlDatagrams(HostDevice end) {
        this.end = end;
        channel = end.keep(end.context().createCompletionChannel());
        received = end.keep(end.context()
                .createCompletionQueue(CompletionQueueSpec.of(2 * SLOTS).on(channel)));
        sent = end.keep(end.context().createCompletionQueue(CompletionQueueSpec.of(2 * SLOTS)));
        memory = Arena.ofAuto().allocate(2L * SLOTS * SLOT_BYTES, 64);
        region = end.keep(end.domain().register(memory, EnumSet.of(Access.LOCAL_WRITE)));
        queuePair = end.queuePair(QueuePairSpec.of(QueuePairType.UD, sent)
                .withReceiveQueue(received)
                .withDepth(SLOTS, SLOTS)
                .withInline(0));
        end.keep(this::stopSending);
        queuePair.toInit(InitAttributes.datagram(QUEUE_KEY));
        for (int i = 0; i < SLOTS; i++) {
            postReceive(i);
        }
        queuePair.toReadyToReceive(ReadyToReceive.unconnected());
        queuePair.toReadyToSend(ReadyToSend.defaults());
    }

    ControlAddress address() {
        return new ControlAddress(end.gid(), queuePair.number());
    }

    private void postReceive(int slot) {
        queuePair.postReceive(receive.start(slot).into(region, (long) slot * SLOT_BYTES, SLOT_BYTES));
    }

    /** Takes datagrams that have arrived; waits for some time if there are none. For one thread. */
    void receive(Duration atMost, Consumer<ControlMessage> consumer) {
        received.requestNotification(false);
        int count = received.poll(arrived);
        if (count == 0) {
            channel.await(atMost);
            count = received.poll(arrived);
        }
        for (int i = 0; i < count; i++) {
            int slot = (int) arrived.id(i);
            if (arrived.isSuccess(i)) {
                take(slot, arrived.bytes(i) - GLOBAL_HEADER_BYTES, consumer);
                postReceive(slot);
            }
        }
    }

    private void take(int slot, int length, Consumer<ControlMessage> consumer) {
        ControlMessage message;
        try {
            message = ControlMessage.read(memory, (long) slot * SLOT_BYTES + GLOBAL_HEADER_BYTES, length);
        } catch (IllegalArgumentException malformed) {
            // Anything that can reach the port may send such a packet, so it is not logged.
            return;
        }
        // A reply goes to the address in the message, and the device connects to it.
        if (end.isHardware() || message.from().gid().equals(sender(slot))) {
            consumer.accept(message);
        }
    }

    /** The GID in the global header, which a software device has checked. */
    private Gid sender(int slot) {
        return Gid.of(
                memory.asSlice((long) slot * SLOT_BYTES + SENDER, Gid.BYTES).toArray(ValueLayout.JAVA_BYTE));
    }

    /** Sends a datagram. If there is no room or the device is being closed, the datagram is lost. */
    void send(ControlAddress to, ControlMessage message) {
        synchronized (sending) {
            if (closed) {
                return;
            }
            underWay -= sent.poll(done);
            if (queuePair.state() == QueuePairState.SEND_QUEUE_ERROR) {
                queuePair.toReadyToSend(ReadyToSend.defaults());
            }
            if (underWay >= SLOTS) {
                return;
            }
            long at = (long) (SLOTS + next) * SLOT_BYTES;
            int length = message.write(memory, at);
            try {
                request.send().from(region, at, length).signaled().to(handle(to.gid()), to.number(), QUEUE_KEY);
                if (queuePair.postSend(request)) {
                    underWay++;
                    next = (next + 1) % SLOTS;
                }
            } catch (VerbsException | IllegalArgumentException unreachable) {
                // The address is unreachable: the datagram is lost.
                return;
            }
        }
    }

    private AddressHandle handle(Gid gid) {
        AddressHandle known = handles.get(gid);
        if (known != null) {
            return known;
        }
        // A handle may be closed only when no datagram in flight uses it.
        if (handles.size() >= MAX_HANDLES && underWay == 0) {
            Iterator<AddressHandle> oldest = handles.values().iterator();
            oldest.next().close();
            oldest.remove();
        }
        AddressHandle made = end.handleTo(gid);
        handles.put(gid, made);
        return made;
    }

    /** Stops sending, before the queues are closed. */
    private void stopSending() {
        synchronized (sending) {
            closed = true;
            handles.values().forEach(AddressHandle::close);
            handles.clear();
        }
    }
}
