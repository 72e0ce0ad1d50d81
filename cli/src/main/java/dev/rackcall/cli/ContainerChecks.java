package dev.rackcall.cli;

import dev.rackcall.cli.ControlGroupFiles.Setting;
import dev.rackcall.shm.os.OsException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/** Checks what a container, or another control group or filter, takes from this process: processors, their time, system calls. */
final class ContainerChecks {
    private final HostFiles host;
    private final HostTrials trials;
    private final ControlGroupFiles groups;

    ContainerChecks(HostFiles host, HostTrials trials) {
        this.host = host;
        this.trials = trials;
        groups = new ControlGroupFiles(host);
    }

    List<Finding> findings() {
        return List.of(cpuset(), quota(), seccomp());
    }

    /** The command of the engine whose container this is, if it is one. */
    static Optional<String> engine(HostFiles host) {
        if (host.exists("/run/.containerenv")) {
            return Optional.of("podman");
        }
        return host.exists("/.dockerenv") ? Optional.of("docker") : Optional.empty();
    }

    // ---- processors

    private Finding cpuset() {
        int online = count(host.text("/sys/devices/system/cpu/online").orElse(""));
        String list = host.line("/proc/self/status", "Cpus_allowed_list:").orElse("");
        int allowed = count(list);
        if (allowed == 0 || allowed >= online) {
            return Finding.ok("cpuset", "This process may use all processors of the host.");
        }
        String sentence = "This process may use " + allowed + " of " + online + " processors (" + list + ")";
        return allowed > 1
                ? Finding.ok("cpuset", sentence + ".")
                : Finding.note(
                        "cpuset", sentence + ", on which a caller and a server take turns. For two: " + second());
    }

    private String second() {
        if (engine(host).isPresent()) {
            return engine(host).get() + " update --cpuset-cpus=0,1 CONTAINER, on its host";
        }
        return groups.unit()
                .map(unit -> "sudo systemctl set-property " + unit + " AllowedCPUs=0,1")
                .orElse("taskset -acp 0,1 "
                        + ProcessHandle.current()
                                .parent()
                                .map(ProcessHandle::pid)
                                .orElse(1L) + ", which is the process that started this one");
    }

    /** How many numbers a list such as {@code 0-3,8} has. */
    private static int count(String list) {
        int count = 0;
        for (String range : list.isEmpty() ? new String[0] : list.split(",")) {
            int[] ends =
                    Arrays.stream(range.split("-")).mapToInt(Integer::parseInt).toArray();
            count += ends[ends.length - 1] - ends[0] + 1;
        }
        return count;
    }

    // ---- time

    /** What a group may use of the processors' time: {@code quota} of each {@code period}, in microseconds. */
    private record Quota(String file, double quota, double period) {
        double processors() {
            return quota / period;
        }
    }

    /** Groups are stopped for the rest of a period when their time is used up, threads that wait for an answer included. */
    private Finding quota() {
        int allowed = count(host.line("/proc/self/status", "Cpus_allowed_list:").orElse("0"));
        Optional<Quota> least = quotas().stream()
                .filter(quota -> quota.processors() < allowed)
                .min((one, other) -> Double.compare(one.processors(), other.processors()));
        if (least.isEmpty()) {
            return Finding.ok("cpu quota", "No control group limits this process's time on its processors.");
        }
        Quota quota = least.get();
        String folder = quota.file().substring(0, quota.file().lastIndexOf('/'));
        long stops = host.line(folder + "/cpu.stat", "nr_throttled")
                .filter(text -> text.matches("\\d{1,18}"))
                .map(Long::parseLong)
                .orElse(0L);
        return Finding.note(
                "cpu quota",
                String.format(
                        Locale.ROOT,
                        "A control group gives this process the time of %.1f of its %d processors, and has stopped it %d"
                                + " times so far, each for the rest of %.0f ms. Threads that wait use up that time,"
                                + " so restrict the processors instead. To lift the quota: %s",
                        quota.processors(),
                        allowed,
                        stops,
                        quota.period() / 1000,
                        lift(quota)));
    }

    private String lift(Quota quota) {
        if (engine(host).isPresent()) {
            return engine(host).get() + " update --cpu-quota=-1 CONTAINER, on its host";
        }
        boolean isVersion2 = quota.file().endsWith("cpu.max");
        return groups.unit()
                .filter(unit -> quota.file().endsWith(unit + "/cpu.max"))
                .map(unit -> "sudo systemctl set-property " + unit + " CPUQuota=")
                .orElse("echo " + (isVersion2 ? "max" : "-1") + " | sudo tee " + quota.file());
    }

    private List<Quota> quotas() {
        List<Quota> quotas = new ArrayList<>();
        for (Setting setting : groups.settings("cpu", "cpu.max", "cpu.cfs_quota_us")) {
            // "max" and -1 stand for none. Version 1 has the period in a file of its own.
            String period =
                    host.text(setting.path().replace("quota_us", "period_us")).orElse("100000");
            String[] parts = (setting.text() + (setting.path().endsWith("cpu.max") ? "" : " " + period)).split("\\s+");
            if (parts.length == 2 && parts[0].matches("\\d{1,15}") && parts[1].matches("[1-9]\\d{0,15}")) {
                quotas.add(new Quota(setting.path(), Double.parseDouble(parts[0]), Double.parseDouble(parts[1])));
            }
        }
        return quotas;
    }

    // ---- system calls

    /** A filter hides a system call (ENOSYS) or refuses it (EPERM), so its effect shows in a trial only. */
    private Finding seccomp() {
        String mode = host.line("/proc/self/status", "Seccomp:").orElse("0");
        if (mode.equals("0")) {
            return Finding.ok("seccomp", "No filter of system calls restricts this process.");
        }
        List<String> refused = new ArrayList<>();
        if (!trials.userfaultfd().works()) {
            refused.add("userfaultfd (without it, sealed calls are sent as snapshots)");
        }
        if (!waitsForNanoseconds()) {
            refused.add("epoll_pwait2 (without it, waits last whole milliseconds)");
        }
        if (refused.isEmpty()) {
            return Finding.ok("seccomp", "A filter restricts this process, and allows all that Rackcall uses.");
        }
        String filter = groups.unit()
                .filter(_ -> engine(host).isEmpty())
                .map(unit -> "sudo systemctl edit " + unit
                        + ", and there [Service] SystemCallFilter=userfaultfd epoll_pwait2")
                .orElse(engine(host).orElse("docker")
                        + " run --security-opt seccomp=PROFILE.json, the default profile with these names added");
        return Finding.note(
                "seccomp",
                "A filter restricts this process, and these fail: " + String.join(", ", refused) + ". To allow them: "
                        + filter);
    }

    private boolean waitsForNanoseconds() {
        try {
            return trials.nanosecondWaits();
        } catch (OsException e) {
            return false;
        }
    }
}
