package dev.rackcall.verbs.soft.requester;

import dev.rackcall.verbs.AddressHandle;
import dev.rackcall.verbs.AddressVector;
import dev.rackcall.verbs.soft.queue.Children;
import java.util.concurrent.atomic.AtomicBoolean;

/** The address of another software device. */
public final class SoftAddressHandle implements AddressHandle {
    private final Children parent;
    private final AddressVector vector;
    private final Destination destination;
    private final AtomicBoolean closed = new AtomicBoolean();

    public SoftAddressHandle(Children parent, RequesterLinks links, AddressVector vector) {
        this.parent = parent;
        this.vector = vector;
        destination = new Destination(links, vector.gid());
        parent.add();
    }

    Destination destination() {
        return destination;
    }

    @Override
    public AddressVector vector() {
        return vector;
    }

    @Override
    public void close() {
        if (closed.compareAndSet(false, true)) {
            parent.remove();
        }
    }
}
