package dev.rackcall.verbs;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.rackcall.verbs.soft.FaultPlan;
import dev.rackcall.verbs.soft.SoftDevice;
import dev.rackcall.verbs.soft.SoftOptions;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;

/**
 * A device whose port a test takes down and brings up: for the software device by its fault plan, for a real one by its
 * network interface. The latter requires {@code -Drackcall.verbs.ports=true}, since it disturbs other users.
 *
 * @param down takes the port down
 * @param up brings it up again; does nothing if it is up
 */
record PortSwitch(Device device, Runnable down, Runnable up) {
    private static final boolean REAL = Boolean.getBoolean("rackcall.verbs.ports");

    static Stream<PortSwitch> all() {
        return ContractDevices.all().map(PortSwitch::of);
    }

    private static PortSwitch of(Device device) {
        if (!ContractDevices.isReal(device)) {
            FaultPlan plan = FaultPlan.none();
            return new PortSwitch(
                    SoftDevice.of("contract", SoftOptions.local().withFaults(plan)), plan::portDown, plan::portUp);
        }
        if (!REAL) {
            Runnable skip = () -> assumeTrue(
                    false, "the port of " + device.name() + " is only taken down with -Drackcall.verbs.ports=true");
            return new PortSwitch(device, skip, () -> {});
        }
        String network = networkOf(device);
        return new PortSwitch(device, () -> set(network, "down"), () -> set(network, "up"));
    }

    private static String networkOf(Device device) {
        try {
            return Files.readString(
                            Path.of("/sys/class/infiniband", device.name(), "ports", "1", "gid_attrs", "ndevs", "0"))
                    .strip();
        } catch (IOException e) {
            throw new UncheckedIOException(device.name() + " has no network interface", e);
        }
    }

    private static void set(String network, String state) {
        try {
            int status = new ProcessBuilder("ip", "link", "set", network, state)
                    .inheritIO()
                    .start()
                    .waitFor();
            if (status != 0) {
                throw new IllegalStateException("ip link set " + network + " " + state + " ended with " + status);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    @Override
    public String toString() {
        return device.name();
    }
}
