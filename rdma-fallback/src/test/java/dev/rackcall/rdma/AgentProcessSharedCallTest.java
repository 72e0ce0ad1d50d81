package dev.rackcall.rdma;

import org.junit.jupiter.api.extension.RegisterExtension;

/** Shared objects by pointer, over virtual queues of agents that are other processes. */
class AgentProcessSharedCallTest extends RemoteSharedCall {
    @RegisterExtension
    static final Place PLACE = Place.agentProcesses();

    AgentProcessSharedCallTest() {
        super(PLACE);
    }
}
