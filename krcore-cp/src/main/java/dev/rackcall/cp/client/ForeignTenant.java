package dev.rackcall.cp.client;

import dev.rackcall.cp.ControlAddress;
import dev.rackcall.cp.ControlPlaneException;
import dev.rackcall.cp.ControlPlaneException.Kind;
import dev.rackcall.cp.HostId;
import dev.rackcall.cp.MessagePort;
import dev.rackcall.cp.Tenant;
import dev.rackcall.cp.VirtualQueue;
import dev.rackcall.cp.session.SessionFiles;
import dev.rackcall.shm.os.file.Mapping;
import dev.rackcall.shm.os.file.SharedFile;
import dev.rackcall.verbs.Access;
import dev.rackcall.verbs.MemoryRegion;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * A tenant of the host's agent process. Each thread waits for the process within its own {@link Patience}; no thread
 * waits for another one.
 */
final class ForeignTenant implements Tenant {
    private final Path folder;
    private final String name;
    private final Membership membership;

    ForeignTenant(Path folder, String name) {
        this.folder = folder;
        this.name = name;
        membership = new Membership(SessionFiles.socketIn(folder), name);
    }

    @Override
    public String name() {
        return name;
    }

    @Override
    public HostId host() {
        return membership.present().host();
    }

    @Override
    public boolean hasAgent() {
        return !membership.present().isDead() || SessionFiles.isServed(folder);
    }

    @Override
    public boolean isClosed() {
        return membership.isClosed();
    }

    @Override
    public boolean isHardware() {
        return membership.present().isHardware();
    }

    @Override
    public MemoryRegion register(MemorySegment memory, Set<Access> rights) {
        throw new ControlPlaneException(
                Kind.UNSUPPORTED,
                "the agent is another process and cannot reach memory of this one; take memory from Tenant.allocate, or"
                        + " give Tenant.share a file");
    }

    @Override
    public MemoryRegion register(SharedFile file, MemorySegment mapped, Set<Access> rights) {
        Tenant.requireWhole(file, mapped);
        return ForeignRegion.passing(membership, file, mapped, Access.bits(rights));
    }

    @Override
    public MemoryRegion share(SharedFile file, Set<Access> rights) {
        Mapping mapping;
        try {
            mapping = file.map();
        } catch (RuntimeException e) {
            file.close();
            throw e;
        }
        ForeignRegion.Backing backing = new ForeignRegion.Backing(file, mapping);
        try {
            return ForeignRegion.lasting(membership, backing, Access.bits(rights));
        } catch (RuntimeException e) {
            backing.close();
            throw e;
        }
    }

    @Override
    public VirtualQueue connect(HostId host) {
        return connect(host, Optional.empty());
    }

    @Override
    public VirtualQueue connect(HostId host, ControlAddress address) {
        return connect(host, Optional.of(address));
    }

    private VirtualQueue connect(HostId host, Optional<ControlAddress> address) {
        Patience patience = Patience.begin();
        return membership.living(patience).connect(host, address, patience);
    }

    @Override
    public List<VirtualQueue> connect(List<HostId> hosts) {
        Patience patience = Patience.begin();
        return membership.living(patience).connect(hosts, patience);
    }

    @Override
    public MessagePort bind(int port) {
        return bind(port, Optional.empty());
    }

    @Override
    public MessagePort bind(int port, Runnable arrival) {
        return bind(port, Optional.of(arrival));
    }

    private MessagePort bind(int port, Optional<Runnable> arrival) {
        Patience patience = Patience.begin();
        return membership.living(patience).bind(port, arrival, patience);
    }

    @Override
    public boolean ping(Duration atMost) {
        // No wait for the next agent.
        return membership.present().ping(Patience.of(atMost));
    }

    @Override
    public void close() {
        membership.close().forEach(ForeignRegion::close);
    }
}
