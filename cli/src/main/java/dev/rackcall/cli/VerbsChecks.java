package dev.rackcall.cli;

import dev.rackcall.verbs.Context;
import dev.rackcall.verbs.Device;
import dev.rackcall.verbs.Devices;
import dev.rackcall.verbs.PortAttributes;
import dev.rackcall.verbs.PortState;
import dev.rackcall.verbs.VerbsException;
import java.util.ArrayList;
import java.util.List;

/** What calls to hosts that share no memory can use: each RDMA device is opened, and the software device too. */
final class VerbsChecks {
    private static final String SUBJECT = "verbs";

    private VerbsChecks() {}

    static List<Finding> findings() {
        List<Finding> findings = new ArrayList<>();
        List<String> diagnosis = Devices.diagnosis();
        for (String sentence : diagnosis) {
            if (sentence.startsWith("no ")) {
                findings.add(Finding.note(SUBJECT, "There is " + sentence));
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
                    ? Finding.ok(SUBJECT, device.name() + " can be used: port 1 is active.")
                    : Finding.note(
                            SUBJECT,
                            device.name() + " opens, but its port 1 is " + port.state() + "; "
                                    + port.state().advice() + ".");
        } catch (VerbsException e) {
            return Finding.note(SUBJECT, device.name() + " cannot be used: " + e.getMessage() + ".");
        }
    }
}
