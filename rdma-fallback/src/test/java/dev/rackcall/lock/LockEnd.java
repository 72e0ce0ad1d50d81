package dev.rackcall.lock;

import dev.rackcall.verbs.Access;
import dev.rackcall.verbs.CompletionQueue;
import dev.rackcall.verbs.CompletionQueueSpec;
import dev.rackcall.verbs.Context;
import dev.rackcall.verbs.InitAttributes;
import dev.rackcall.verbs.MemoryRegion;
import dev.rackcall.verbs.ProtectionDomain;
import dev.rackcall.verbs.QueuePair;
import dev.rackcall.verbs.QueuePairSpec;
import dev.rackcall.verbs.QueuePairType;
import dev.rackcall.verbs.ReadyToReceive;
import dev.rackcall.verbs.ReadyToSend;
import dev.rackcall.verbs.soft.FaultPlan;
import java.lang.foreign.Arena;
import java.util.EnumSet;

/** The queue pair of a thread that reaches the locks of a {@link LockHome}, perhaps in another process. */
final class LockEnd implements AutoCloseable {
    /**
     * Seven seconds instead of the default half a second: on a busy machine a device may get no processor for that
     * long.
     */
    static final int PATIENT = 18;
    /** Two seconds, for an end that is to be cut off. */
    static final int HASTY = 16;

    private final Context context;
    private final boolean stranger;
    private final ProtectionDomain domain;
    private final CompletionQueue completions;
    private final MemoryRegion scratch;
    private final QueuePair queuePair;
    private long address;
    private int key;

    private LockEnd(Context context, boolean stranger) {
        this.context = context;
        this.stranger = stranger;
        domain = context.allocateProtectionDomain();
        completions = context.createCompletionQueue(CompletionQueueSpec.of(64).polledBusily());
        scratch = domain.register(Arena.ofAuto().allocate(LockTable.SCRATCH_BYTES, 64), EnumSet.allOf(Access.class));
        queuePair = queuePair(domain, completions);
    }

    /** With a device of its own. */
    static LockEnd stranger() {
        return new LockEnd(LockDevice.open(FaultPlan.none()), true);
    }

    /** On this device. */
    static LockEnd on(Context context) {
        return new LockEnd(context, false);
    }

    static QueuePair queuePair(ProtectionDomain domain, CompletionQueue completions) {
        QueuePair made = domain.createQueuePair(
                QueuePairSpec.of(QueuePairType.RC, completions).withDepth(32, 1).withInline(8));
        made.toInit(InitAttributes.connected());
        return made;
    }

    static void connect(Context context, QueuePair from, String gid, String number) {
        connect(context, from, gid, number, PATIENT);
    }

    private static void connect(Context context, QueuePair from, String gid, String number, int timeout) {
        from.toReadyToReceive(ReadyToReceive.from(LockDevice.pathTo(context, gid), Integer.parseInt(number)));
        from.toReadyToSend(ReadyToSend.defaults().withRetries(timeout, 6));
    }

    /** For {@link LockHome#accept}. */
    String describe() {
        return LockDevice.gid(context) + " " + queuePair.number();
    }

    /** Connects to what {@link LockHome.Accepted#describe} says. */
    LockEnd connectTo(String description) {
        return connectTo(description, PATIENT);
    }

    /** As {@link #connectTo(String)}, with one of the patiences above. */
    LockEnd connectTo(String description, int timeout) {
        String[] words = description.split(" ");
        connect(context, queuePair, words[0], words[1], timeout);
        address = Long.parseLong(words[2]);
        key = Integer.parseInt(words[3]);
        return this;
    }

    RemoteTable link() {
        return new RemoteTable(queuePair, completions, scratch, address, key);
    }

    @Override
    public void close() {
        queuePair.close();
        scratch.close();
        completions.close();
        domain.close();
        if (stranger) {
            context.close();
        }
    }
}
