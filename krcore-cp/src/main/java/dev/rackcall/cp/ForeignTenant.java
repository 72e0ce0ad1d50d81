package dev.rackcall.cp;

import dev.rackcall.cp.ControlPlaneException.Kind;
import dev.rackcall.shm.os.Mapping;
import dev.rackcall.shm.os.SharedFile;
import dev.rackcall.verbs.Access;
import dev.rackcall.verbs.MemoryRegion;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.locks.LockSupport;

/** A tenant of the host's agent process: over one life of the agent after the other. */
final class ForeignTenant implements Tenant {
    private static final long RETURN_NANOS = 5_000_000_000L;
    private static final long PAUSE_NANOS = 10_000_000;

    private final Path socket;
    private final String name;
    /** Replaced, with the monitor, when the agent has died. */
    private volatile Attachment attachment;
    /** Guarded by the monitor, with what follows. */
    private final List<ForeignRegion> regions = new ArrayList<>();

    private boolean closed;

    ForeignTenant(Path socket, String name) {
        this.socket = socket;
        this.name = name;
        attachment = Attachment.open(socket, name);
    }

    @Override
    public String name() {
        return name;
    }

    @Override
    public HostId host() {
        return attachment.host();
    }

    @Override
    public boolean isHardware() {
        return attachment.isHardware();
    }

    @Override
    public MemoryRegion register(MemorySegment memory, Set<Access> rights) {
        throw new ControlPlaneException(
                Kind.UNSUPPORTED,
                "the agent is another process and cannot reach memory of this one; take memory from Tenant.allocate, or"
                        + " give Tenant.share a file");
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
        try {
            synchronized (this) {
                ForeignRegion region = new ForeignRegion(this, file, mapping, Access.bits(rights), living());
                regions.add(region);
                return region;
            }
        } catch (RuntimeException e) {
            file.close();
            mapping.close();
            throw e;
        }
    }

    /** Returns whether it was there. */
    synchronized boolean forget(ForeignRegion region) {
        return regions.remove(region);
    }

    @Override
    public VirtualQueue connect(HostId host) {
        return current().connect(host, Optional.empty());
    }

    @Override
    public List<VirtualQueue> connect(List<HostId> hosts) {
        return current().connect(hosts);
    }

    @Override
    public VirtualQueue connect(HostId host, ControlAddress address) {
        return current().connect(host, Optional.of(address));
    }

    @Override
    public MessagePort bind(int port) {
        return current().bind(port);
    }

    @Override
    public MessagePort bind(int port, Runnable arrival) {
        throw new ControlPlaneException(
                Kind.UNSUPPORTED,
                "the agent is another process, which tells nobody here that a message has come; bind without that, and look");
    }

    @Override
    public boolean ping(Duration atMost) {
        // Without the monitor: who connects may hold it for seconds, waiting for the next agent.
        return attachment.ping(atMost.toNanos());
    }

    private synchronized Attachment current() {
        return living();
    }

    /** That of the agent that lives now, for which it waits if need be. */
    private Attachment living() {
        if (closed) {
            throw new ControlPlaneException(Kind.QUEUE_FAILED, "tenant " + name + " is closed; join again");
        }
        if (!attachment.isDead()) {
            return attachment;
        }
        long start = System.nanoTime();
        while (true) {
            try {
                Attachment next = Attachment.open(socket, name);
                attachment.close();
                attachment = next;
                renewRegions();
                return next;
            } catch (ControlPlaneException e) {
                if (e.kind() != Kind.UNREACHABLE || System.nanoTime() - start > RETURN_NANOS) {
                    throw e;
                }
            }
            LockSupport.parkNanos(PAUSE_NANOS);
        }
    }

    private void renewRegions() {
        try {
            for (ForeignRegion region : regions) {
                region.renew(attachment);
            }
        } catch (RuntimeException e) {
            // Or the next to connect would find it alive, and regions with the keys of another life.
            attachment.close();
            throw e;
        }
    }

    @Override
    public synchronized void close() {
        if (!closed) {
            closed = true;
            attachment.closeWithQueues();
            regions.forEach(ForeignRegion::release);
            regions.clear();
        }
    }
}
