package dev.rackcall.cp;

import dev.rackcall.cp.agent.Agent;
import java.io.IOException;

/** The same over an agent process's door. */
class HostileProcessTest extends HostileTenantTest {
    @Override
    Tenant admit(Hosts hosts, Agent agent, String name) throws IOException {
        return hosts.foreign(agent, name);
    }
}
