package dev.rackcall.cp.agent;

import dev.rackcall.cp.Tenant;
import dev.rackcall.cp.lane.Lanes;
import dev.rackcall.cp.lane.Peers;

/** Parts of an agent, for tests in other packages. */
public final class AgentInsides {
    private AgentInsides() {}

    public static Lanes lanes(Agent agent) {
        return agent.lanes();
    }

    public static Peers peers(Agent agent) {
        return agent.peers();
    }

    /** Requests of a tenant that are in flight. */
    public static int held(Tenant tenant) {
        return ((LocalTenant) tenant).held();
    }
}
