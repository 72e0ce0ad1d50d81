package dev.rackcall.cp.agent;

import dev.rackcall.cp.Hosts;
import dev.rackcall.cp.PlainDevice;
import java.time.Duration;

/** The same tests on devices without dynamically connected queue pairs. */
class PlainAgentTest extends AgentTest {
    @Override
    Hosts newHosts(Duration lease) {
        return new Hosts(16, PlainDevice::of, lease);
    }
}
