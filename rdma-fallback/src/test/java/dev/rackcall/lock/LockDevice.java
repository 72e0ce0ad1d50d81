package dev.rackcall.lock;

import dev.rackcall.verbs.AddressVector;
import dev.rackcall.verbs.Context;
import dev.rackcall.verbs.Devices;
import dev.rackcall.verbs.Gid;
import dev.rackcall.verbs.soft.FaultPlan;
import dev.rackcall.verbs.soft.SoftDevice;
import dev.rackcall.verbs.soft.SoftOptions;
import java.util.Optional;

/**
 * The device that the tests of locks run over: the software device, or the one that {@code -Drackcall.lock.device}
 * names.
 */
final class LockDevice {
    private static final Optional<String> REAL = Optional.ofNullable(System.getProperty("rackcall.lock.device"));

    private LockDevice() {}

    static boolean isReal() {
        return REAL.isPresent();
    }

    /** Faults apply to the software device only. */
    static Context open(FaultPlan faults) {
        return REAL.map(name -> Devices.find(name).open())
                .orElseGet(() -> SoftDevice.of("lock", SoftOptions.local().withFaults(faults))
                        .open());
    }

    static Gid gid(Context context) {
        return context.gid(1, gidIndex(context));
    }

    static AddressVector pathTo(Context context, String gid) {
        return AddressVector.of(Gid.parse(gid), gidIndex(context));
    }

    private static int gidIndex(Context context) {
        int length = context.port(1).gidTableLength();
        for (int i = 0; i < length; i++) {
            if (context.gid(1, i).isIpv4()) {
                return i;
            }
        }
        return 0;
    }
}
