package dev.rackcall.rdma;

import dev.rackcall.rpc.Dispatch;
import dev.rackcall.rpc.contract.CallContractTest;
import dev.rackcall.shm.waiting.WaitStrategy;
import java.util.List;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The contract of calls over virtual queues. */
class QueueCallContractTest extends RemoteCallContract {
    private static final boolean LONG = Integer.getInteger("rackcall.kills", 0) > 0;

    @RegisterExtension
    static final Place PLACE = Place.queues();

    QueueCallContractTest() {
        super(PLACE);
    }

    /** Dispatch and waiting are as over RDMA, where all kinds are tested each time. */
    public static List<Mode> modes() {
        return LONG ? CallContractTest.modes() : fewModes();
    }

    static List<Mode> fewModes() {
        return List.of(
                new Mode(Dispatch.virtualThreads(), WaitStrategy.adaptive()),
                new Mode(Dispatch.direct(), WaitStrategy.blocking()));
    }
}
