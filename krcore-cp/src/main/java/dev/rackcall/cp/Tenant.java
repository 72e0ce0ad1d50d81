package dev.rackcall.cp;

import dev.rackcall.shm.os.file.SharedFile;
import dev.rackcall.verbs.Access;
import dev.rackcall.verbs.MemoryRegion;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.List;
import java.util.Set;

/**
 * A user of an agent: one process, or a part of a process that must not disturb others. A tenant's requests may name
 * only its own memory regions, and quotas bound what it can use. Any thread may use it. Closing it closes its queues
 * and regions.
 *
 * <p>{@link dev.rackcall.cp.agent.Agent#admit} makes a tenant of an agent in this process,
 * {@link dev.rackcall.cp.client.AgentFolder#join} one of the host's agent process. Programs that support both get their
 * memory from {@link #allocate} or {@link #share}.
 *
 * <p>Operations that need an agent process wait for it within the calling thread's
 * {@link dev.rackcall.cp.client.Patience}. Closing a region, a queue or a port never waits. The agent process releases
 * closed regions before it registers the next one, and closed queues and ports before it opens the next one. Until then
 * peers may still access the memory of a closed region or port.
 */
public interface Tenant extends AutoCloseable {
    /** The name under which it was admitted. */
    String name();

    /** The host of its agent. Peers find the tenant's ports and regions under this host. */
    HostId host();

    /**
     * Whether an agent serves this tenant. False when its agent process has ended and no other one serves in its
     * folder. Never waits.
     */
    boolean hasAgent();

    /** Whether it was closed. A closed tenant stays closed, even if another agent starts. */
    boolean isClosed();

    /** Whether its agent's device is hardware, not the software device. */
    boolean isHardware();

    /**
     * Registers memory of this process, as {@link dev.rackcall.verbs.ProtectionDomain#register} does. The memory stays
     * the caller's and must stay mapped until the region is closed. With remote rights, peers find the region in this
     * host's table by its remote key.
     *
     * @throws ControlPlaneException QUOTA_EXCEEDED; TABLE_FULL if the host has too many regions; UNSUPPORTED if the
     *     agent is another process, which cannot reach this memory
     */
    MemoryRegion register(MemorySegment memory, Set<Access> rights);

    /**
     * Registers the mapping of a whole file. An agent process maps the file itself and reserves all of it. The mapping
     * stays the caller's and must stay mapped until the region is closed; the file may be closed when this returns. If
     * an agent process ends, the region is useless and must be registered again.
     *
     * @throws ControlPlaneException as {@link #share}
     * @throws IllegalArgumentException if the mapping is not as long as the file
     */
    MemoryRegion register(SharedFile file, MemorySegment mapped, Set<Access> rights);

    /**
     * Maps a file and registers the mapping. An agent process maps the file, too. The tenant owns the file from now on,
     * closes it, and unmaps the memory when the region is closed. When an agent process has ended, the next one
     * registers the region again.
     *
     * @throws ControlPlaneException as {@link #register}; REFUSED if the agent is another process and the file's length
     *     is not sealed
     */
    MemoryRegion share(SharedFile file, Set<Access> rights);

    /**
     * Allocates zeroed memory, rounded up to whole pages, and registers it. It is freed when the region is closed.
     * Errors are those of {@link #share}.
     */
    default MemoryRegion allocate(long bytes, Set<Access> rights) {
        return share(SharedFile.memfd("rackcall-region", bytes), rights);
    }

    /**
     * A virtual queue to a host, usable at once. The host's record comes from the cache, or else from the meta server.
     *
     * @throws ControlPlaneException UNKNOWN_HOST, UNREACHABLE (the meta server, or the agent if it is another process),
     *     QUOTA_EXCEEDED
     */
    VirtualQueue connect(HostId host);

    /**
     * A virtual queue to each of these hosts, in their order. Through an agent process this waits once for all of them.
     * Either all queues are connected or none.
     *
     * @throws ControlPlaneException as {@link #connect(HostId)}, for the first host that cannot be connected
     */
    List<VirtualQueue> connect(List<HostId> hosts);

    /**
     * A virtual queue to this host. If the meta server does not find the host or does not reply, the host itself is
     * queried at this address.
     */
    VirtualQueue connect(HostId host, ControlAddress address);

    /**
     * Receives the messages that virtual queues send to this port of this host.
     *
     * @param port any number that is not bound on this host
     * @throws ControlPlaneException REFUSED if the port is bound; QUOTA_EXCEEDED; UNREACHABLE if the agent process does
     *     not reply
     */
    MessagePort bind(int port);

    /**
     * As {@link #bind(int)}, and runs a callback when messages arrive, so that the receiver need not poll.
     *
     * @param arrival runs after messages have arrived for {@link MessagePort#receive}, sometimes needlessly, and when
     *     an agent process has ended. It runs on a thread that polls the device or listens to the agent process, so it
     *     must neither wait nor throw
     * @throws ControlPlaneException as {@link #bind(int)}
     */
    MessagePort bind(int port, Runnable arrival);

    /**
     * Checks that the agent lives. When this returns true, the agent has taken all requests that this tenant pushed
     * before.
     *
     * @return false if the agent has died or takes longer; always true for an agent in this process
     */
    boolean ping(Duration atMost);

    /** Closes the tenant. Requests in flight get one second to end first. */
    @Override
    void close();

    /**
     * @throws IllegalArgumentException if the mapping is not as long as the file: an agent process registers the whole
     *     file
     */
    static void requireWhole(SharedFile file, MemorySegment mapped) {
        if (mapped.byteSize() != file.bytes()) {
            throw new IllegalArgumentException(mapped.byteSize() + " bytes are not all of " + file);
        }
    }
}
