package dev.rackcall.cp;

import dev.rackcall.cp.agent.Agent;

/** The same tests through an agent process. */
class ForeignQueueTest extends VirtualQueueTest {
    @Override
    protected Tenant admit(Agent agent, String name) {
        return hosts().foreign(agent, name);
    }
}
