package dev.rackcall.verbs.real;

import dev.rackcall.verbs.Context;
import dev.rackcall.verbs.Device;

/**
 * A device of the kernel.
 *
 * @param name as in /sys/class/infiniband
 */
record RealDevice(String name) implements Device {
    @Override
    public Context open() {
        return new RealContext(this, new NativeContext(name, DeviceList.open(name)));
    }

    @Override
    public String toString() {
        return name;
    }
}
