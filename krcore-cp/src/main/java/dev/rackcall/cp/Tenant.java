package dev.rackcall.cp;

import dev.rackcall.shm.os.file.SharedFile;
import dev.rackcall.verbs.Access;
import dev.rackcall.verbs.MemoryRegion;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.List;
import java.util.Set;

/**
 * Who uses an agent: one process, or one part of a process that shall not disturb others. A tenant's requests may name its own memory regions
 * only, and what it can use up is bounded. Any thread may use it. Closing it closes its queues and regions.
 *
 * <p>One of an agent in this process comes from {@link dev.rackcall.cp.agent.Agent#admit}, one of the host's agent process from {@link dev.rackcall.cp.client.AgentFolder#join}. Programs that
 * shall work with either get their memory by {@link #allocate} or {@link #share}.
 *
 * <p>What needs an agent process waits for it as long as the calling thread's {@link dev.rackcall.cp.client.Patience} lasts. Closing a region, a queue or a port waits for nobody: an agent process lets go of them a moment later, of a region
 * before it registers the next one, of the others before it opens the next one. Until then a peer's request may still reach memory that stays the caller's.
 */
public interface Tenant extends AutoCloseable {
    /** The name it was admitted by. */
    String name();

    /** The host of its agent, which is where peers find what it binds and registers. */
    HostId host();

    /** Whether there is an agent to work for it: false of an agent process that has ended, as long as no other one serves in its folder. Known here, without waiting for anybody. */
    boolean hasAgent();

    /** Whether it was closed: then nothing works any more, whatever agents there are. */
    boolean isClosed();

    /** Whether its agent's device is one in hardware, and not the software device. */
    boolean isHardware();

    /**
     * Registers memory of this process, as {@link dev.rackcall.verbs.ProtectionDomain#register} does; the memory stays the caller's and must
     * stay mapped until the region is closed. With remote rights, peers find the region in this host's table by its remote key.
     *
     * @throws ControlPlaneException QUOTA_EXCEEDED, TABLE_FULL if the host has too many regions, or UNSUPPORTED if the agent is another
     *     process, which cannot reach this memory
     */
    MemoryRegion register(MemorySegment memory, Set<Access> rights);

    /**
     * Registers memory that is the mapping of a whole file, at the agent too if that is another process, which then maps the file and reserves all of it. The mapping stays the caller's, and
     * mapped until the region is closed; of the file nothing is needed any more when this returns. So if such an agent ends, the region is of no use any more, and is registered anew by who needs it.
     *
     * @throws ControlPlaneException as {@link #share}
     * @throws IllegalArgumentException if the mapping is not as long as the file
     */
    MemoryRegion register(SharedFile file, MemorySegment mapped, Set<Access> rights);

    /**
     * Maps a file and registers the mapping, at the agent too if that is another process. The file becomes the tenant's, which closes it, and
     * unmaps the memory when the region is closed. The next agent process gets it, too, when one has ended.
     *
     * @throws ControlPlaneException as {@link #register}; REFUSED if the agent is another process and the file's length is not sealed
     */
    MemoryRegion share(SharedFile file, Set<Access> rights);

    /** Makes memory and registers it: zeroes, rounded up to whole pages, gone when the region is closed. Errors are those of {@link #share}. */
    default MemoryRegion allocate(long bytes, Set<Access> rights) {
        return share(SharedFile.memfd("rackcall-region", bytes), rights);
    }

    /**
     * A virtual queue to a host, usable at once. Takes what is known of the host from the cache, else reads it from the meta server.
     *
     * @throws ControlPlaneException UNKNOWN_HOST, UNREACHABLE (the meta server, or the agent if it is another process), QUOTA_EXCEEDED
     */
    VirtualQueue connect(HostId host);

    /**
     * A virtual queue to each of these hosts, in their order: through an agent process with one wait for all of them. Either all are made or none.
     *
     * @throws ControlPlaneException of the first host that cannot be connected to, as {@link #connect(HostId)}
     */
    List<VirtualQueue> connect(List<HostId> hosts);

    /** A virtual queue to this host; if the meta server does not know the host or does not answer, the host itself is asked at this address. */
    VirtualQueue connect(HostId host, ControlAddress address);

    /**
     * Receives what virtual queues send to this port of this host.
     *
     * @param port any number that nobody else on this host has bound
     * @throws ControlPlaneException REFUSED if somebody has it, QUOTA_EXCEEDED, UNREACHABLE if the agent is another process and does not answer
     */
    MessagePort bind(int port);

    /**
     * The same, and says when something has come, so that nobody need look for it again and again.
     *
     * @param arrival runs after messages that {@link MessagePort#receive} then has, also without need, and once the agent is another process that has ended. On any thread that moves the device's
     *     traffic, or on one that hears the agent's process: it must neither wait nor throw
     * @throws ControlPlaneException as {@link #bind(int)}
     */
    MessagePort bind(int port, Runnable arrival);

    /**
     * Asks the agent for a sign of life, which has taken by then all that this tenant has pushed before.
     *
     * @return false if it has died or takes longer; always true of an agent in this process
     */
    boolean ping(Duration atMost);

    /** Requests that are under way end first, as far as they do within a second. */
    @Override
    void close();

    /** @throws IllegalArgumentException if a mapping does not have the length of its file, all of which an agent process registers */
    static void requireWhole(SharedFile file, MemorySegment mapped) {
        if (mapped.byteSize() != file.bytes()) {
            throw new IllegalArgumentException(mapped.byteSize() + " bytes are not all of " + file);
        }
    }
}
