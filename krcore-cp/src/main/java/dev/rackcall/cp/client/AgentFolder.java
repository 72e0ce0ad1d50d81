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
 * Joins the agent process of a folder, or opens an agent in this process if there is none.
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
     * Becomes a tenant of the agent process of this folder. If that process dies, queues fail at once with a reason.
     * {@link Tenant#connect} then waits for the next agent within the thread's {@link Patience}. The next agent
     * registers all regions of {@link Tenant#share} and {@link Tenant#allocate} again, with new addresses and keys.
     *
     * @param name for messages; need not be unique
     * @throws ControlPlaneException UNREACHABLE if no agent process serves there, REFUSED if it has another version or
     *     works for another user
     */
    public static Tenant join(Path folder, String name) {
        return new ForeignTenant(folder, name);
    }

    /**
     * As {@link #join(Path, String)}. Without an agent process, this opens an agent in this process and returns its
     * tenant; closing the tenant closes the agent.
     *
     * @param embedded opens that agent, if it is needed
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
     * Whether an agent process serves in this folder now. Returns false if the folder does not exist or is
     * inaccessible.
     *
     * @throws OsException if this process has no file descriptors left for the check
     */
    public static boolean isServed(Path folder) {
        return SessionFiles.isServed(folder);
    }
}
