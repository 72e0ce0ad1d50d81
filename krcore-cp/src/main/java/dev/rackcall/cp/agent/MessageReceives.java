package dev.rackcall.cp.agent;

import dev.rackcall.cp.control.HostDevice;
import dev.rackcall.verbs.Access;
import dev.rackcall.verbs.CompletionChannel;
import dev.rackcall.verbs.CompletionQueue;
import dev.rackcall.verbs.CompletionQueueSpec;
import dev.rackcall.verbs.Completions;
import dev.rackcall.verbs.MemoryRegion;
import dev.rackcall.verbs.ReceiveRequest;
import dev.rackcall.verbs.SharedReceiveQueue;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.EnumSet;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The shared receive queue where messages of all peers arrive. One thread may poll at a time. */
final class MessageReceives {
    /** Takes a message, whose memory is then reused. */
    @FunctionalInterface
    interface Taker {
        void take(MemorySegment memory, long at, int bytes);
    }

    private static final Logger LOG = LoggerFactory.getLogger(MessageReceives.class);
    private static final int SLOTS = 512;

    private final CompletionChannel channel;
    private final CompletionQueue completions;
    private final SharedReceiveQueue queue;
    private final MemoryRegion region;
    private final MemorySegment memory;
    private final ReceiveRequest receive = ReceiveRequest.create(1);
    private final Completions batch = Completions.create(32);

    MessageReceives(HostDevice end) {
        channel = end.keep(end.context().createCompletionChannel());
        completions = end.keep(end.context()
                .createCompletionQueue(CompletionQueueSpec.of(2 * SLOTS).on(channel)));
        queue = end.keep(end.domain().createSharedReceiveQueue(SLOTS, 1));
        memory = Arena.ofAuto().allocate((long) SLOTS * MessageSlots.SLOT_BYTES, 64);
        region = end.keep(end.domain().register(memory, EnumSet.of(Access.LOCAL_WRITE)));
        for (int i = 0; i < SLOTS; i++) {
            post(i);
        }
    }

    private void post(int slot) {
        queue.post(receive.start(slot).into(region, (long) slot * MessageSlots.SLOT_BYTES, MessageSlots.SLOT_BYTES));
    }

    CompletionQueue completions() {
        return completions;
    }

    SharedReceiveQueue queue() {
        return queue;
    }

    void requestNotification() {
        completions.requestNotification(false);
    }

    void await(Duration atMost) {
        channel.await(atMost);
    }

    /** Takes messages that have arrived; returns whether there were any. */
    boolean poll(Taker taker) {
        int count = completions.poll(batch);
        for (int i = 0; i < count; i++) {
            int slot = (int) batch.id(i);
            try {
                if (batch.isSuccess(i)) {
                    taker.take(memory, (long) slot * MessageSlots.SLOT_BYTES, batch.bytes(i));
                }
            } catch (RuntimeException | Error e) {
                LOG.warn("a message is dropped after a failure", e);
            } finally {
                post(slot);
            }
        }
        return count > 0;
    }
}
