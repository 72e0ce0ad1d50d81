package dev.rackcall.verbs.soft;

import dev.rackcall.verbs.AddressHandle;
import dev.rackcall.verbs.AddressVector;
import java.util.concurrent.atomic.AtomicBoolean;

/** A way to another software device. */
final class SoftAddressHandle implements AddressHandle {
    private final SoftProtectionDomain domain;
    private final AddressVector vector;
    private final AtomicBoolean closed = new AtomicBoolean();
    private volatile RequesterLink link;

    SoftAddressHandle(SoftProtectionDomain domain, AddressVector vector) {
        this.domain = domain;
        this.vector = vector;
        link = domain.context().linkTo(vector.gid());
        domain.children().add();
    }

    @Override
    public AddressVector vector() {
        return vector;
    }

    /** The connection to use now: a new one if the last has ended. */
    RequesterLink link() {
        RequesterLink current = link;
        if (current.isEnded()) {
            current = domain.context().linkTo(vector.gid());
            link = current;
        }
        return current;
    }

    /** Whether this connection is the one used last. */
    boolean isOver(RequesterLink other) {
        return link == other;
    }

    @Override
    public void close() {
        if (closed.compareAndSet(false, true)) {
            domain.children().remove();
        }
    }
}
