package dev.rackcall.rdma;

import java.util.List;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The contract of calls over virtual queues of agents that are other processes. */
class AgentProcessCallContractTest extends RemoteCallContract {
    @RegisterExtension
    static final Place PLACE = Place.agentProcesses();

    AgentProcessCallContractTest() {
        super(PLACE);
    }

    /** As with agents of this process. */
    public static List<Mode> modes() {
        return QueueCallContractTest.fewModes();
    }
}
