package dev.rackcall.grpc;

import java.net.URI;
import org.junit.AfterClass;
import org.junit.BeforeClass;
import org.junit.runner.RunWith;
import org.junit.runners.JUnit4;

/** All tests of grpc-java's interoperability suite over virtual queues. */
@RunWith(JUnit4.class)
public class QueueInteropTest extends RemoteInteropTest {
    private static TwoAgents agents;

    @BeforeClass
    public static void openAgents() {
        agents = new TwoAgents();
    }

    @AfterClass
    public static void closeAgents() {
        agents.close();
    }

    @Override
    URI anyPort() {
        return TwoAgents.address(0);
    }
}
