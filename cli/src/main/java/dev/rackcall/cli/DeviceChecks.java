package dev.rackcall.cli;

import dev.rackcall.verbs.Context;
import dev.rackcall.verbs.Device;
import dev.rackcall.verbs.Devices;
import dev.rackcall.verbs.PortAttributes;
import dev.rackcall.verbs.PortState;
import dev.rackcall.verbs.VerbsException;
import java.util.ArrayList;
import java.util.List;

/** Devices that carry memory or calls beyond one host. */
final class DeviceChecks {
    private final HostFiles host;

    DeviceChecks(HostFiles host) {
        this.host = host;
    }

    List<Finding> findings() {
        return List.of(dax(), rdma());
    }

    private Finding dax() {
        List<String> devices = host.names("/dev", "dax[0-9]*");
        if (devices.isEmpty()) {
            return Finding.note(
                    "device-dax", "There is no /dev/dax device (CXL or persistent memory); dax pools need one.");
        }
        List<String> closed = devices.stream()
                .filter(device -> !host.canReadAndWrite("/dev/" + device))
                .toList();
        return closed.isEmpty()
                ? Finding.ok("device-dax", "dax pools can use " + list("/dev/", devices) + ".")
                : Finding.note(
                        "device-dax",
                        "This user may not read and write " + list("/dev/", closed)
                                + "; give its group access by a udev rule, or use another pool.");
    }

    private Finding rdma() {
        List<String> devices = host.names("/sys/class/infiniband", "*");
        if (devices.isEmpty()) {
            return Finding.note("RDMA", "There is no RDMA device; calls inside this host do not need one.");
        }
        List<String> verbs = host.names("/dev/infiniband", "uverbs[0-9]*");
        return verbs.stream().anyMatch(name -> host.canReadAndWrite("/dev/infiniband/" + name))
                ? Finding.ok("RDMA", "Devices: " + String.join(", ", devices) + ".")
                : Finding.note(
                        "RDMA",
                        "Devices: " + String.join(", ", devices)
                                + ", but this user may not open /dev/infiniband/uverbs*; load ib_uverbs or join its group.");
    }

    private static String list(String folder, List<String> names) {
        return folder + String.join(", " + folder, names);
    }

    /** Opens each RDMA device, and the software device. */
    static List<Finding> verbs() {
        List<Finding> findings = new ArrayList<>();
        List<String> diagnosis = Devices.diagnosis();
        for (String sentence : diagnosis) {
            if (sentence.startsWith("no ")) {
                findings.add(Finding.note("verbs", "There is " + sentence));
            }
        }
        for (Device device : Devices.list()) {
            findings.add(open(device));
        }
        return findings;
    }

    private static Finding open(Device device) {
        try (Context context = device.open()) {
            PortAttributes port = context.port(1);
            return port.state() == PortState.ACTIVE
                    ? Finding.ok("verbs", device.name() + " can be used: port 1 is active.")
                    : Finding.note(
                            "verbs",
                            device.name() + " opens, but its port 1 is " + port.state() + "; "
                                    + port.state().advice() + ".");
        } catch (VerbsException e) {
            return Finding.note("verbs", device.name() + " cannot be used: " + e.getMessage() + ".");
        }
    }

    /** What {@code ./rackcall rack-test} lacks; only contributors need it. */
    static Finding rack(List<String> missing) {
        return missing.isEmpty()
                ? Finding.ok("rack", "./rackcall rack-test can boot its virtual machines.")
                : Finding.note("rack", "./rackcall rack-test cannot run without " + String.join(", ", missing) + ".");
    }
}
