package dev.rackcall.cp;

import java.time.Duration;

/** The same on devices without dynamically connected queue pairs. */
class PlainAgentTest extends AgentTest {
    @Override
    Hosts newHosts(Duration lease) {
        return new Hosts(16, PlainDevice::new, lease);
    }
}
