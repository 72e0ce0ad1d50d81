package dev.rackcall.cp;

import static org.assertj.core.api.Assertions.assertThat;

import dev.rackcall.verbs.Context;
import dev.rackcall.verbs.Device;
import dev.rackcall.verbs.DeviceAttributes;
import dev.rackcall.verbs.ProtectionDomain;
import dev.rackcall.verbs.QueuePairSpec;
import dev.rackcall.verbs.QueuePairType;

/** Devices without dynamically connected queue pairs, like most hardware. */
public final class PlainDevice {
    private PlainDevice() {}

    public static Device of(Device device) {
        return Wrapping.of(
                Device.class,
                device,
                (method, _, inner) -> method.equals("open") ? plain((Context) inner.call()) : inner.call());
    }

    private static Context plain(Context context) {
        return Wrapping.of(Context.class, context, (method, _, inner) -> switch (method) {
            case "attributes" -> plain((DeviceAttributes) inner.call());
            case "allocateProtectionDomain" -> plain((ProtectionDomain) inner.call());
            default -> inner.call();
        });
    }

    private static DeviceAttributes plain(DeviceAttributes all) {
        return new DeviceAttributes(
                all.firmware(),
                all.maxQueuePairs(),
                all.maxWorkRequests(),
                all.maxSegments(),
                all.maxCompletionQueues(),
                all.maxCompletions(),
                all.maxMemoryRegions(),
                all.maxReadAtomic(),
                all.maxSharedReceiveQueues(),
                all.ports(),
                all.atomics(),
                false);
    }

    private static ProtectionDomain plain(ProtectionDomain domain) {
        return Wrapping.of(ProtectionDomain.class, domain, (method, arguments, inner) -> {
            if (method.equals("createQueuePair")) {
                assertThat(((QueuePairSpec) arguments[0]).type()).isIn(QueuePairType.RC, QueuePairType.UD);
            }
            return inner.call();
        });
    }
}
