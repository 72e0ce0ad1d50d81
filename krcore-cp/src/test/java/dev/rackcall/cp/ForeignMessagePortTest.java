package dev.rackcall.cp;

import dev.rackcall.cp.agent.Agent;
import java.io.IOException;
import java.io.UncheckedIOException;

/** The same tests between tenants of agent processes. */
class ForeignMessagePortTest extends MessagePortTest {
    @Override
    Tenant admit(Agent agent, String name) {
        try {
            return hosts().foreign(agent, name);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
