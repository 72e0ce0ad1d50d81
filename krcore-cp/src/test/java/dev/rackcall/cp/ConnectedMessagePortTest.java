package dev.rackcall.cp;

/** The same tests on devices without dynamically connected queue pairs. */
class ConnectedMessagePortTest extends MessagePortTest {
    @Override
    Hosts newHosts() {
        return new Hosts(16, PlainDevice::of);
    }
}
