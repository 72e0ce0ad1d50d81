package dev.rackcall.cp;

/** The same on devices without dynamically connected queue pairs. */
class PlainAgentTest extends AgentTest {
    @Override
    Hosts newHosts() {
        return new Hosts(16, PlainDevice::new, Hosts.SHORT_LEASE);
    }
}
