package dev.rackcall.verbs.soft.device;

import dev.rackcall.verbs.Access;
import dev.rackcall.verbs.AddressHandle;
import dev.rackcall.verbs.AddressVector;
import dev.rackcall.verbs.MemoryRegion;
import dev.rackcall.verbs.ProtectionDomain;
import dev.rackcall.verbs.QueuePair;
import dev.rackcall.verbs.QueuePairSpec;
import dev.rackcall.verbs.SharedReceiveQueue;
import dev.rackcall.verbs.VerbsErrno;
import dev.rackcall.verbs.VerbsException;
import dev.rackcall.verbs.soft.memory.DomainMemory;
import dev.rackcall.verbs.soft.queue.Children;
import dev.rackcall.verbs.soft.queue.SoftLimits;
import dev.rackcall.verbs.soft.requester.SoftAddressHandle;
import dev.rackcall.verbs.soft.responder.SoftSharedReceiveQueue;
import java.lang.foreign.MemorySegment;
import java.util.Set;

/** A protection domain: queue pairs reach only its own memory regions. */
final class SoftProtectionDomain implements ProtectionDomain {
    /** Only for a check: memory that this thread may access is accessible to all threads. */
    private static final Thread ANOTHER_THREAD = Thread.ofPlatform().unstarted(() -> {});

    private final SoftContext context;
    private final Children children;

    private final DomainMemory memory;

    SoftProtectionDomain(SoftContext context) {
        this.context = context;
        children = new Children("a protection domain", context.core().children());
        memory = new DomainMemory(context.core().memory(), children::remove);
    }

    SoftContext context() {
        return context;
    }

    Children children() {
        return children;
    }

    DomainMemory memory() {
        return memory;
    }

    @Override
    public MemoryRegion register(MemorySegment segment, Set<Access> rights) {
        String what = "registering " + segment.byteSize() + " bytes with rights " + rights;
        if (!segment.isNative() || segment.byteSize() == 0 || segment.isReadOnly()) {
            throw new VerbsException(what, VerbsErrno.EFAULT, "register native, writable memory of 1 byte at least");
        }
        if (!segment.isAccessibleBy(ANOTHER_THREAD)) {
            throw new VerbsException(
                    what,
                    VerbsErrno.EFAULT,
                    "the device's threads must reach the memory: allocate it in a shared arena");
        }
        if (!rights.contains(Access.LOCAL_WRITE)
                && (rights.contains(Access.REMOTE_WRITE) || rights.contains(Access.REMOTE_ATOMIC))) {
            throw new VerbsException(what, VerbsErrno.EINVAL, "add LOCAL_WRITE");
        }
        children.add();
        return memory.register(segment, rights).orElseThrow(() -> {
            children.remove();
            return new VerbsException(what, VerbsErrno.ENOMEM, "the device has no memory region left: close some");
        });
    }

    @Override
    public QueuePair createQueuePair(QueuePairSpec spec) {
        SoftLimits.check("send requests", spec.maxSends(), SoftLimits.MAX_WORK_REQUESTS);
        SoftLimits.check("receive requests", spec.maxReceives(), SoftLimits.MAX_WORK_REQUESTS);
        SoftLimits.check("segments", spec.maxSegments(), SoftLimits.MAX_SEGMENTS);
        SoftLimits.check("bytes inline", spec.maxInline(), SoftLimits.MAX_INLINE);
        int number = context.queuePairs().reserve();
        if (number == 0) {
            throw new VerbsException(
                    "creating a queue pair", VerbsErrno.ENOMEM, "the device has none left: close some");
        }
        SoftQueuePair made = new SoftQueuePair(this, spec, number);
        made.attach();
        return made;
    }

    @Override
    public SharedReceiveQueue createSharedReceiveQueue(int requests, int segments) {
        SoftLimits.check("receive requests", requests, SoftLimits.MAX_WORK_REQUESTS);
        SoftLimits.check("segments", segments, SoftLimits.MAX_SEGMENTS);
        return new SoftSharedReceiveQueue(children, requests, segments);
    }

    @Override
    public AddressHandle createAddressHandle(AddressVector vector) {
        SoftLimits.checkPort(vector.port());
        return new SoftAddressHandle(children, context.requesters(), vector);
    }

    @Override
    public void close() {
        children.close();
    }
}
