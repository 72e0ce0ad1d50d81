package dev.rackcall.cp;

import dev.rackcall.cp.agent.Agent;

/** The same tests through an agent process. */
class HostileProcessTest extends HostileTenantTest {
    @Override
    Tenant admit(Hosts hosts, Agent agent, String name) {
        return hosts.foreign(agent, name);
    }
}
