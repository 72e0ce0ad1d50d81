package dev.rackcall.cp;

/** The same tests on devices without dynamically connected queue pairs. */
class HostileOverPlainDeviceTest extends HostileTenantTest {
    @Override
    Hosts newHosts() {
        return new Hosts(4, PlainDevice::of);
    }
}
