package dev.rackcall.verbs.soft.queue;

import dev.rackcall.verbs.Gid;
import dev.rackcall.verbs.soft.memory.DeviceMemory;
import dev.rackcall.verbs.soft.wire.Faults;
import dev.rackcall.verbs.soft.wire.GidProof;
import dev.rackcall.verbs.soft.wire.Links;
import java.net.InetSocketAddress;

/** The state that all objects of an open device share. */
public final class DeviceCore {
    private final String name;
    private final Links links;
    private final Faults faults;
    private final DeviceMemory memory;
    private final AsyncEvents events = new AsyncEvents();
    private final Children children = new Children("a context");
    private final GidProof proof = GidProof.random();
    /** Proves this device to itself. It is in no hello to another device. */
    private final GidProof ownProof = GidProof.random();

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

    /** Sets the GID of a device that listens at this address and whose certificate has this public key. */
    public void listensAt(InetSocketAddress address, byte[] publicKey) {
        gid = proof.gid(address, publicKey);
    }

    /** What proves this device's GID to the peer. */
    public GidProof proofFor(Gid peer) {
        return peer.equals(gid) ? ownProof : proof;
    }

    /** Whether this proves that the sender, whose certificate has this public key, is the device with this GID. */
    public boolean isProven(Gid peer, GidProof shown, byte[] publicKey) {
        return peer.equals(gid) ? shown.equals(ownProof) : shown.proves(peer, publicKey);
    }
}
