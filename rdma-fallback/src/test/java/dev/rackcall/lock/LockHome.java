package dev.rackcall.lock;

import dev.rackcall.verbs.Access;
import dev.rackcall.verbs.CompletionQueue;
import dev.rackcall.verbs.CompletionQueueSpec;
import dev.rackcall.verbs.Context;
import dev.rackcall.verbs.MemoryRegion;
import dev.rackcall.verbs.ProtectionDomain;
import dev.rackcall.verbs.QueuePair;
import dev.rackcall.verbs.soft.FaultPlan;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;

/** A host with memory that others reach by RDMA: one device, and a queue pair for each end. */
final class LockHome implements AutoCloseable {
    /** This host's end of a queue pair. */
    final class Accepted {
        final QueuePair queuePair;

        private Accepted(QueuePair queuePair) {
            this.queuePair = queuePair;
        }

        String describe() {
            return LockDevice.gid(context) + " " + queuePair.number() + " " + region.address() + " "
                    + region.remoteKey();
        }

        /** Requests that have not arrived will not arrive any more. */
        void cut() {
            queuePair.toError();
        }
    }

    private final Context context;
    private final ProtectionDomain domain;
    private final CompletionQueue completions;
    private final MemoryRegion region;
    private final List<Accepted> accepted = new ArrayList<>();
    private final List<LockEnd> ends = new ArrayList<>();

    LockHome(MemorySegment memory) {
        this(memory, FaultPlan.none());
    }

    LockHome(MemorySegment memory, FaultPlan faults) {
        context = LockDevice.open(faults);
        domain = context.allocateProtectionDomain();
        completions = context.createCompletionQueue(CompletionQueueSpec.of(64));
        region = domain.register(memory, EnumSet.allOf(Access.class));
    }

    /** Connects to what {@link LockEnd#describe} says. */
    synchronized Accepted accept(String description) {
        String[] words = description.split(" ");
        QueuePair queuePair = LockEnd.queuePair(domain, completions);
        LockEnd.connect(context, queuePair, words[0], words[1]);
        Accepted here = new Accepted(queuePair);
        accepted.add(here);
        return here;
    }

    /** A queue pair of another thread in this process. */
    synchronized RemoteTable newLink() {
        return link(LockEnd.stranger(), LockEnd.PATIENT);
    }

    /** A queue pair that soon notices when it is {@link Accepted#cut}. */
    synchronized RemoteTable newHastyLink() {
        return link(LockEnd.stranger(), LockEnd.HASTY);
    }

    /** A queue pair from this device to itself. */
    synchronized RemoteTable newLoopback() {
        return link(LockEnd.on(context), LockEnd.PATIENT);
    }

    private RemoteTable link(LockEnd end, int timeout) {
        ends.add(end);
        return end.connectTo(accept(end.describe()).describe(), timeout).link();
    }

    MemoryRegion region() {
        return region;
    }

    Accepted last() {
        return accepted.getLast();
    }

    @Override
    public synchronized void close() {
        ends.forEach(LockEnd::close);
        accepted.forEach(here -> here.queuePair.close());
        region.close();
        completions.close();
        domain.close();
        context.close();
    }
}
