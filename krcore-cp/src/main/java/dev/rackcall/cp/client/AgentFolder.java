package dev.rackcall.cp.client;

import dev.rackcall.cp.ControlPlaneException;
import dev.rackcall.cp.ControlPlaneException.Kind;
import dev.rackcall.cp.Tenant;
import dev.rackcall.cp.agent.Agent;
import dev.rackcall.cp.session.SessionFiles;
import dev.rackcall.shm.os.OsException;
import java.nio.file.Path;
import java.util.function.Supplier;

/**
 * The way to the control plane for a process that need not know whether its host has an agent process.
 *
 * {@snippet :
 * Tenant tenant = AgentFolder.join(folder, "orders", () -> Agent.open(Devices.find("soft:a"), options));
 * MemoryRegion region = tenant.allocate(1 << 20, EnumSet.of(Access.LOCAL_WRITE));
 * VirtualQueue queue = tenant.connect(HostId.named("b"));
 * }
 */
public final class AgentFolder {
    private AgentFolder() {}

    /**
     * Becomes a tenant of the agent process of this folder. If that is killed, queues fail at once and say so; {@link Tenant#connect} then waits
     * for the next agent, as long as the thread's {@link Patience} lasts, which has all regions then that {@link Tenant#share} or {@link Tenant#allocate} has made: with new addresses and keys.
     *
     * @param name for messages; need not be unique
     * @throws ControlPlaneException UNREACHABLE if there is none, REFUSED if it has another version or works for another user
     */
    public static Tenant join(Path folder, String name) {
        return new ForeignTenant(folder, name);
    }

    /**
     * The same, or where no agent process runs, a tenant of an agent in this process, which ends with its tenant.
     *
     * @param embedded makes that agent, if it is needed
     */
    public static Tenant join(Path folder, String name, Supplier<Agent> embedded) {
        if (isServed(folder)) {
            try {
                return join(folder, name);
            } catch (ControlPlaneException e) {
                if (e.kind() != Kind.UNREACHABLE || isServed(folder)) {
                    throw e;
                }
            }
        }
        Agent agent = embedded.get();
        return agent.admit(name).andThen(agent::close);
    }

    /**
     * Whether an agent process works for this folder now that this process could use: of a folder that it may not look into, or that is none, there is none.
     *
     * @throws OsException if this process has no descriptors left to look with
     */
    public static boolean isServed(Path folder) {
        return SessionFiles.isServed(folder);
    }
}
