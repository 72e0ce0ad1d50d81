package dev.rackcall.verbs.soft.queue;

import dev.rackcall.verbs.Gid;
import dev.rackcall.verbs.soft.memory.DeviceMemory;
import dev.rackcall.verbs.soft.wire.Faults;
import dev.rackcall.verbs.soft.wire.Links;

/** The state that all objects of an open device share. */
public final class DeviceCore {
    private final String name;
    private final Links links;
    private final Faults faults;
    private final DeviceMemory memory;
    private final AsyncEvents events = new AsyncEvents();
    private final Children children = new Children("a context");
    private volatile Gid gid = Gid.NONE;

    public DeviceCore(String name, Links links, Faults faults) {
        this.name = name;
        this.links = links;
        this.faults = faults;
        memory = new DeviceMemory(faults::insideAtomic);
    }

    public String name() {
        return name;
    }

    public Links links() {
        return links;
    }

    public Faults faults() {
        return faults;
    }

    public DeviceMemory memory() {
        return memory;
    }

    public AsyncEvents events() {
        return events;
    }

    public Children children() {
        return children;
    }

    public Gid gid() {
        return gid;
    }

    /** Sets the GID; the device listens at the address in it. */
    public void listensAt(Gid newGid) {
        gid = newGid;
    }
}
