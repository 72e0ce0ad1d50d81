package dev.rackcall.cli;

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
}
