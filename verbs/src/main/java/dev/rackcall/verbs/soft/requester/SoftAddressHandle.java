package dev.rackcall.verbs.soft.requester;

import dev.rackcall.verbs.AddressHandle;
import dev.rackcall.verbs.AddressVector;
import dev.rackcall.verbs.soft.queue.Children;

/** The address of another software device. */
public final class SoftAddressHandle implements AddressHandle {
    private final Children users;
    private final Destination destination;

    public SoftAddressHandle(Children parent, RequesterLinks links, AddressVector vector) {
        destination = new Destination(links, vector.gid());
        users = new Children("an address handle", parent);
    }

    Destination destination() {
        return destination;
    }

    @Override
    public void close() {
        users.close();
    }
}
