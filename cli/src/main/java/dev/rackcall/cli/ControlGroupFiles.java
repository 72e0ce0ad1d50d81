package dev.rackcall.cli;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Where this process's control groups have their files (cgroups(7), version 2 or 1), as far as they are visible here. */
final class ControlGroupFiles {
    private static final String MOUNT = "/sys/fs/cgroup";

    private final HostFiles host;

    ControlGroupFiles(HostFiles host) {
        this.host = host;
    }

    /** A group's file and its text. */
    record Setting(String path, String text) {}

    /**
     * The settings of a controller, those of the process's own group first, then those of the groups above.
     *
     * @param controller its name in version 1, where it has a mount of its own
     */
    List<Setting> settings(String controller, String version2, String version1) {
        List<Setting> found = new ArrayList<>();
        for (String line : host.text("/proc/self/cgroup").orElse("").lines().toList()) {
            // hierarchy:controllers:path
            String[] parts = line.split(":", 3);
            if (parts.length < 3) {
                continue;
            }
            if (parts[1].isEmpty()) {
                addUpwards(found, MOUNT, parts[2], version2);
                addUpwards(found, MOUNT + "/unified", parts[2], version2);
            } else if (List.of(parts[1].split(",")).contains(controller)) {
                addUpwards(found, MOUNT + "/" + controller, parts[2], version1);
            }
        }
        return found;
    }

    private void addUpwards(List<Setting> found, String mount, String group, String name) {
        String rest = group.equals("/") ? "" : group;
        while (true) {
            String path = mount + rest + "/" + name;
            host.text(path).ifPresent(text -> found.add(new Setting(path, text)));
            if (rest.isEmpty()) {
                return;
            }
            rest = rest.substring(0, Math.max(0, rest.lastIndexOf('/')));
        }
    }

    /**
     * A service of systemd.
     *
     * @param isOfUser whether a user's manager runs it; the system's manager does not know it
     */
    record Unit(String name, boolean isOfUser) {
        /** The start of a command that shows the service. */
        String show() {
            return isOfUser ? "systemctl --user" : "systemctl";
        }

        /** The start of a command that changes the service. */
        String change() {
            return isOfUser ? "systemctl --user" : "sudo systemctl";
        }

        /** Whether a file belongs to the service's group, rather than to one above. */
        boolean has(String path) {
            return path.substring(0, path.lastIndexOf('/')).endsWith("/" + name);
        }
    }

    /** The systemd unit that this process belongs to, if its group is that of a service. */
    Optional<Unit> unit() {
        return host.line("/proc/self/cgroup", "0::")
                .filter(path -> path.endsWith(".service"))
                .map(path ->
                        new Unit(path.substring(path.lastIndexOf('/') + 1), path.matches(".*/user@\\d+\\.service/.*")));
    }
}
