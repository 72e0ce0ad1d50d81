package dev.rackcall.cli;

import dev.rackcall.cli.ControlGroupFiles.Setting;
import dev.rackcall.cli.ControlGroupFiles.Unit;
import dev.rackcall.shm.os.Errno;
import dev.rackcall.shm.os.OsException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.stream.Collectors;

/** Checks what a container, or another control group or filter, takes from this process: processors, their time, system calls. */
final class ContainerChecks {
    /** Docker compiles its default profile into the daemon, so this is the published copy. */
    private static final String DOCKERS_PROFILE =
            "https://raw.githubusercontent.com/moby/profiles/main/seccomp/default.json";

    private static final String PODMANS_PROFILE = "/usr/share/containers/seccomp.json";

    private static final String PATCH = "'{\"spec\":{\"template\":{\"spec\":{\"securityContext\":{\"seccompProfile\":"
            + "{\"type\":\"Localhost\",\"localhostProfile\":\"rackcall-seccomp.json\"}}}}}}'";

    private final HostFiles host;
    private final HostTrials trials;
    private final ControlGroupFiles groups;
    private final ContainerEngine engine;

    ContainerChecks(HostFiles host, HostTrials trials, Map<String, String> environment) {
        this.host = host;
        this.trials = trials;
        groups = new ControlGroupFiles(host);
        engine = ContainerEngine.of(host, environment);
    }

    List<Finding> findings() {
        return List.of(cpuset(), quota(), seccomp());
    }

    // ---- processors

    private Finding cpuset() {
        BitSet online = processors(host.text("/sys/devices/system/cpu/online").orElse(""));
        String list = host.line("/proc/self/status", "Cpus_allowed_list:").orElse("");
        int allowed = processors(list).cardinality();
        if (allowed == 0 || allowed >= online.cardinality()) {
            return Finding.ok("cpuset", "This process may use all processors of the host.");
        }
        String sentence =
                "This process may use " + allowed + " of " + online.cardinality() + " processors (" + list + ")";
        return allowed > 1
                ? Finding.ok("cpuset", sentence + ".")
                : Finding.note(
                        "cpuset", sentence + ", on which a caller and a server take turns. For two: " + second(online));
    }

    /** A wider cpuset does not widen the affinity mask of CPUAffinity= or taskset, and a wider mask is cut to the cpuset. */
    private String second(BitSet online) {
        List<Setting> cpusets = groups.settings("cpuset", "cpuset.cpus.effective", "cpuset.effective_cpus").stream()
                .filter(cpuset -> !cpuset.text().isEmpty())
                .toList();
        if (cpusets.isEmpty()) {
            // The group of a container may be hidden from it. On a host there is then no cpuset.
            return engine == ContainerEngine.NONE ? widenAffinity(online) : widenCpuset(cpusets, online);
        }
        BitSet own = processors(cpusets.getFirst().text());
        return own.cardinality() > 1 ? widenAffinity(own) : widenCpuset(cpusets, online);
    }

    private String widenAffinity(BitSet possible) {
        if (engine == ContainerEngine.NONE && groups.unit().isPresent()) {
            Unit unit = groups.unit().get();
            return unit.change() + " edit " + unit.name() + ", and there [Service] CPUAffinity=" + two(possible)
                    + "; take any taskset out of its ExecStart=";
        }
        long parent = ProcessHandle.current().parent().map(ProcessHandle::pid).orElse(1L);
        return "taskset -acp " + two(possible) + " " + parent + ", which is the process that started this one";
    }

    private String widenCpuset(List<Setting> cpusets, BitSet online) {
        return switch (engine) {
            case DOCKER, PODMAN ->
                engine.command() + " update --cpuset-cpus=" + two(online) + " CONTAINER, on its host";
            case KUBERNETES ->
                "set resources.limits.cpu and resources.requests.cpu to 2 in the container's specification";
            case NONE -> {
                // The highest group of one processor limits those below it.
                int limiting = 0;
                while (limiting + 1 < cpusets.size()
                        && processors(cpusets.get(limiting + 1).text()).cardinality() == 1) {
                    limiting++;
                }
                BitSet possible = limiting + 1 < cpusets.size()
                        ? processors(cpusets.get(limiting + 1).text())
                        : online;
                String path = cpusets.get(limiting).path();
                yield groups.unit()
                        .filter(unit -> unit.has(path))
                        .map(unit -> unit.change() + " set-property " + unit.name() + " AllowedCPUs=" + two(possible))
                        .orElse("echo " + two(possible) + " | sudo tee " + path.substring(0, path.lastIndexOf('/'))
                                + "/cpuset.cpus");
            }
        };
    }

    /** The numbers of a list such as {@code 0-3,8}. */
    private static BitSet processors(String list) {
        BitSet processors = new BitSet();
        for (String range : list.isEmpty() ? new String[0] : list.split(",")) {
            int[] ends =
                    Arrays.stream(range.split("-")).mapToInt(Integer::parseInt).toArray();
            processors.set(ends[0], ends[ends.length - 1] + 1);
        }
        return processors;
    }

    /** The first two numbers, as a list. */
    private static String two(BitSet processors) {
        return processors.stream().limit(2).mapToObj(String::valueOf).collect(Collectors.joining(","));
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
        int allowed = processors(
                        host.line("/proc/self/status", "Cpus_allowed_list:").orElse("0"))
                .cardinality();
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
                        "A control group gives this process the time of %.1f of its %d processors, and has throttled it %d"
                                + " times so far, each for the rest of %.0f ms. Threads that wait use up that time,"
                                + " so restrict the processors instead. To lift the quota: %s",
                        quota.processors(),
                        allowed,
                        stops,
                        quota.period() / 1000,
                        lift(quota, allowed)));
    }

    /** Docker changes a quota only by the option that set it. */
    private String lift(Quota quota, int allowed) {
        boolean isVersion2 = quota.file().endsWith("cpu.max");
        return switch (engine) {
            case DOCKER, PODMAN ->
                engine.command() + " update --cpus=" + allowed
                        + " CONTAINER, on its host, or --cpu-quota=-1, if it was started with --cpu-quota";
            case KUBERNETES ->
                "remove resources.limits.cpu from the container's specification, or set it to " + allowed;
            case NONE ->
                groups.unit()
                        .filter(unit -> isVersion2 && unit.has(quota.file()))
                        .map(unit -> unit.change() + " set-property " + unit.name() + " CPUQuota=")
                        .orElse("echo " + (isVersion2 ? "max" : "-1") + " | sudo tee " + quota.file());
        };
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

    /**
     * A filter hides a system call (ENOSYS) or refuses it (EPERM), so its effect shows in a trial only. Kernels before
     * 5.19 cannot do what Rackcall does with userfaultfd, those before 5.11 have no epoll_pwait2.
     */
    private Finding seccomp() {
        String mode = host.line("/proc/self/status", "Seccomp:").orElse("0");
        if (mode.equals("0")) {
            return Finding.ok("seccomp", "No filter of system calls restricts this process.");
        }
        KernelVersion kernel = KernelVersion.of(host);
        OptionalInt errno = trials.userfaultfdErrno();
        boolean isHidden = errno.isPresent() && (errno.getAsInt() == Errno.EPERM || errno.getAsInt() == Errno.ENOSYS);
        List<String> calls = new ArrayList<>();
        List<String> effects = new ArrayList<>();
        if (isHidden && kernel.isAtLeast(5, 19)) {
            calls.add("userfaultfd");
            effects.add("sealed calls are sent as snapshots");
        }
        if (kernel.isAtLeast(5, 11) && lacksNanosecondWaits()) {
            calls.add("epoll_pwait2");
            effects.add("waits last whole milliseconds");
        }
        // Many settings of systemd install filters that refuse other calls.
        return calls.isEmpty()
                ? Finding.ok(
                        "seccomp", "A filter restricts this process, but the trials found no call that it refuses.")
                : Finding.note(
                        "seccomp",
                        "A filter refuses " + String.join(" and ", calls) + ", so " + String.join(" and ", effects)
                                + ". " + allowance(calls));
    }

    private String allowance(List<String> calls) {
        return switch (engine) {
            case DOCKER ->
                "To allow that: " + publishedProfile("", calls)
                        + " && docker run --security-opt seccomp=rackcall-seccomp.json IMAGE";
            case PODMAN ->
                "To allow that: " + profile("", calls, PODMANS_PROFILE)
                        + " && podman run --security-opt seccomp=rackcall-seccomp.json IMAGE";
            case KUBERNETES ->
                "To allow that, on each node: " + publishedProfile(plain(), calls)
                        + " && sudo install -D -m 644 rackcall-seccomp.json /var/lib/kubelet/seccomp/rackcall-seccomp.json;"
                        + " then kubectl patch deployment NAME --patch " + PATCH;
            case NONE ->
                groups.unit()
                        .map(ContainerChecks::allowance)
                        .orElse("To allow that: add " + String.join(" and ", calls)
                                + " to the filter of the program that started this process");
        };
    }

    /** The commands that add the calls to Docker's profile. A failed download leaves no profile. */
    private static String publishedProfile(String filter, List<String> calls) {
        return "curl -fsSL " + DOCKERS_PROFILE + " -o default.json && " + profile(filter, calls, "default.json");
    }

    /**
     * The command that adds the calls to a default profile.
     *
     * @param filter of jq, which comes first; empty or with a pipe at its end
     */
    private static String profile(String filter, List<String> calls, String source) {
        String names = calls.stream().map(call -> '"' + call + '"').collect(Collectors.joining(", "));
        return "jq '" + filter + ".syscalls += [{names: [" + names + "], action: \"SCMP_ACT_ALLOW\"}]' " + source
                + " > rackcall-seccomp.json";
    }

    /**
     * Leaves what Docker would apply to a container without capabilities here. Other runtimes ignore Docker's conditions, so they would
     * also apply the rules for other architectures and for containers with capabilities.
     */
    private static String plain() {
        String host = System.getProperty("os.arch");
        String architecture = '"' + (host.equals("aarch64") ? "arm64" : host) + '"';
        return ".syscalls |= map(select(.includes.caps == null and ((.includes.arches // [" + architecture
                + "]) | index(" + architecture + ")) and ((.excludes.arches // []) | index(" + architecture
                + ") | not)) | del(.includes, .excludes, .comment)) | del(.archMap) | ";
    }

    /** In a unit without a list, the line makes one: the service dies of SIGSYS at the first call that is not in it. */
    private static String allowance(Unit unit) {
        return "Only if " + unit.show() + " show -p SystemCallFilter --value " + unit.name()
                + " prints names, allow it: " + unit.change() + " edit " + unit.name()
                + ", and there [Service] SystemCallFilter=@system-service userfaultfd epoll_pwait2."
                + " In a unit without such names, that line may kill the service.";
    }

    private boolean lacksNanosecondWaits() {
        try {
            return !trials.nanosecondWaits();
        } catch (OsException e) {
            // Another call failed, which LiveChecks reports.
            return false;
        }
    }
}
