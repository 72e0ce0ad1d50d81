package dev.rackcall.cp;

import dev.rackcall.cp.agent.Agent;

/** The same tests between tenants of agent processes. */
class ForeignMessagePortTest extends MessagePortTest {
    @Override
    Tenant admit(Agent agent, String name) {
        return hosts().foreign(agent, name);
    }
}
