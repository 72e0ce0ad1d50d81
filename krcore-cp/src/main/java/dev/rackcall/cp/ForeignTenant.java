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
import java.util.concurrent.TimeUnit;

/** A tenant of the host's agent process: over one life of the agent after the other. */
final class ForeignTenant implements Tenant {
    private static final long RETURN_NANOS = TimeUnit.SECONDS.toNanos(5);
    private static final long PAUSE_MILLIS = 10;

    private final Path socket;
    private final String name;
    /** Replaced, with the monitor, when the agent has died. */
    private volatile Attachment attachment;
    /** Guarded by the monitor, with what follows. */
    private final List<ForeignRegion> regions = new ArrayList<>();

    /** Written with the monitor, and read without by who does not wait for it. */
    private volatile boolean closed;

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
    public boolean hasAgent() {
        return !attachment.isDead() || AgentLink.isServed(socket.getParent());
    }

    @Override
    public boolean isClosed() {
        return closed;
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
    public MemoryRegion register(SharedFile file, MemorySegment mapped, Set<Access> rights) {
        if (mapped.byteSize() != file.bytes()) {
            throw new IllegalArgumentException(mapped.byteSize() + " bytes are not all of " + file);
        }
        // A descriptor of its own, for the next agent.
        SharedFile own = file.window(0, file.bytes());
        try {
            return add(own, mapped, Optional.empty(), rights);
        } catch (RuntimeException e) {
            own.close();
            throw e;
        }
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
            return add(file, mapping.memory(), Optional.of(mapping), rights);
        } catch (RuntimeException e) {
            file.close();
            mapping.close();
            throw e;
        }
    }

    private synchronized ForeignRegion add(
            SharedFile file, MemorySegment memory, Optional<Mapping> mapping, Set<Access> rights) {
        ForeignRegion region = new ForeignRegion(this, file, memory, mapping, Access.bits(rights), living());
        regions.add(region);
        return region;
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
        return current().bind(port, Optional.empty());
    }

    @Override
    public MessagePort bind(int port, Runnable arrival) {
        return current().bind(port, Optional.of(arrival));
    }

    @Override
    public boolean ping(Duration atMost) {
        // Without the monitor: who connects may hold it for seconds, waiting for the next agent.
        return attachment.ping(atMost.toNanos());
    }

    private synchronized Attachment current() {
        return living();
    }

    /** That of the agent that lives now, for which it waits if need be. With the monitor, which others get meanwhile: who closes a region need not wait for an agent. */
    private Attachment living() {
        long start = System.nanoTime();
        requireOpen();
        while (attachment.isDead()) {
            try {
                attach();
            } catch (ControlPlaneException e) {
                if (e.kind() != Kind.UNREACHABLE || System.nanoTime() - start > RETURN_NANOS) {
                    throw e;
                }
                pause();
            }
            requireOpen();
        }
        return attachment;
    }

    private void attach() {
        Attachment next = Attachment.open(socket, name);
        attachment.close();
        attachment = next;
        renewRegions();
    }

    @SuppressWarnings("WaitNotInLoop") // who calls it loops
    private void pause() {
        try {
            wait(PAUSE_MILLIS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new ControlPlaneException(
                    Kind.UNREACHABLE, "interrupted while the next agent process was waited for; connect again");
        }
    }

    private void requireOpen() {
        if (closed) {
            throw new ControlPlaneException(Kind.QUEUE_FAILED, "tenant " + name + " is closed; join again");
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
