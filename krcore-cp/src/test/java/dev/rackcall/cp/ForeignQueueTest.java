package dev.rackcall.cp;

import dev.rackcall.cp.agent.Agent;
import java.io.IOException;
import java.io.UncheckedIOException;

/** The same tests through an agent process. */
class ForeignQueueTest extends VirtualQueueTest {
    @Override
    protected Tenant admit(Agent agent, String name) {
        try {
            return hosts().foreign(agent, name);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
