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

    /** The systemd unit that this process belongs to, if its group is that of a service. */
    Optional<String> unit() {
        return host.line("/proc/self/cgroup", "0::")
                .map(path -> path.substring(path.lastIndexOf('/') + 1))
                .filter(name -> name.endsWith(".service"));
    }
}
