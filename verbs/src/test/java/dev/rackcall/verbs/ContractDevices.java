package dev.rackcall.verbs;

import dev.rackcall.verbs.soft.SoftDevice;
import dev.rackcall.verbs.soft.SoftOptions;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/**
 * The devices that the contract suite runs over: the software device always, real ones when there are any. The property
 * {@code rackcall.verbs.device} names the only one to test.
 */
public final class ContractDevices {
    private static final String ONLY = System.getProperty("rackcall.verbs.device", "");

    static {
        if (real().isEmpty()) {
            System.out.println(
                    "VERBS CONTRACT: NO REAL DEVICE TESTED, ONLY THE SOFTWARE DEVICE: " + Devices.diagnosis());
        }
    }

    private ContractDevices() {}

    public static Stream<Device> all() {
        List<Device> devices = new ArrayList<>(real());
        devices.add(SoftDevice.of("contract", SoftOptions.local()));
        return devices.stream().filter(device -> ONLY.isEmpty() || device.name().equals(ONLY));
    }

    static List<Device> real() {
        return Devices.list().stream().filter(ContractDevices::isReal).toList();
    }

    static boolean isReal(Device device) {
        return !device.name().startsWith(SoftDevice.PREFIX);
    }
}
