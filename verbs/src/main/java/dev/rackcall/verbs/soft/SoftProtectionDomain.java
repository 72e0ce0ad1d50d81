package dev.rackcall.verbs.soft;

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
import java.lang.foreign.MemorySegment;
import java.util.Set;

/** The border that keys are checked against. */
final class SoftProtectionDomain implements ProtectionDomain {
    private final SoftContext context;
    private final Children children = new Children("a protection domain");

    SoftProtectionDomain(SoftContext context) {
        this.context = context;
        context.children().add();
    }

    SoftContext context() {
        return context;
    }

    Children children() {
        return children;
    }

    /** The region of this key, of whatever domain, or null. */
    SoftMemoryRegion region(int key) {
        return context.regions().get(key);
    }

    @Override
    public MemoryRegion register(MemorySegment memory, Set<Access> rights) {
        String what = "registering " + memory.byteSize() + " bytes with rights " + rights;
        if (!memory.isNative() || memory.byteSize() == 0 || memory.isReadOnly()) {
            throw new VerbsException(what, VerbsErrno.EFAULT, "register native, writable memory of 1 byte at least");
        }
        if (!memory.isAccessibleBy(context.anyOtherThread())) {
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
        int key = context.regions().reserve();
        if (key == 0) {
            children.remove();
            throw new VerbsException(what, VerbsErrno.ENOMEM, "the device has no memory region left: close some");
        }
        SoftMemoryRegion region = new SoftMemoryRegion(this, memory, Access.bits(rights), key);
        context.regions().put(key, region);
        return region;
    }

    void forget(SoftMemoryRegion region) {
        context.regions().remove(region.localKey());
        children.remove();
    }

    @Override
    public QueuePair createQueuePair(QueuePairSpec spec) {
        SoftLimits.check("send requests", spec.maxSends(), SoftLimits.MAX_WORK_REQUESTS);
        SoftLimits.check("receive requests", spec.maxReceives(), SoftLimits.MAX_WORK_REQUESTS);
        SoftLimits.check("segments", spec.maxSegments(), SoftLimits.MAX_SEGMENTS);
        SoftLimits.check("bytes inline", spec.maxInline(), SoftLimits.MAX_INLINE);
        int number = context.queuePairs().reserve();
        if (number == 0) {
            throw new VerbsException("making a queue pair", VerbsErrno.ENOMEM, "the device has none left: close some");
        }
        SoftQueuePair made = new SoftQueuePair(this, spec, number);
        made.attach();
        return made;
    }

    @Override
    public SharedReceiveQueue createSharedReceiveQueue(int requests, int segments) {
        SoftLimits.check("receive requests", requests, SoftLimits.MAX_WORK_REQUESTS);
        SoftLimits.check("segments", segments, SoftLimits.MAX_SEGMENTS);
        return new SoftSharedReceiveQueue(this, requests, segments);
    }

    @Override
    public AddressHandle createAddressHandle(AddressVector vector) {
        SoftContext.checkPort(vector.port());
        return new SoftAddressHandle(this, vector);
    }

    @Override
    public void close() {
        if (children.close()) {
            context.children().remove();
        }
    }
}
