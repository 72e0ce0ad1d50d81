package dev.rackcall.cli;

import dev.rackcall.rack.RackTestCommand;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** {@code rackcall doctor}: one sentence for each feature of the host that Rackcall needs or can use. */
@Command(
        name = "doctor",
        description = "Checks what this host offers Rackcall, and how to fix what is missing.",
        footer = "Exit code 1 if something that Rackcall needs is missing.")
final class DoctorCommand implements Callable<Integer> {
    @Spec
    private CommandSpec spec;

    @Override
    public Integer call() {
        PrintWriter out = spec.commandLine().getOut();
        List<Finding> findings = examine(HostFiles.ofThisHost());
        findings.forEach(out::println);
        long problems = findings.stream()
                .filter(finding -> finding.level() == Finding.Level.PROBLEM)
                .count();
        out.println(
                problems == 0 ? "Rackcall can run here." : "Rackcall cannot run here until the problems are fixed.");
        out.flush();
        return problems == 0 ? 0 : 1;
    }

    private static List<Finding> examine(HostFiles host) {
        HostTrials trials = new HostTrials();
        Map<String, String> environment = System.getenv();
        List<Finding> findings = new ArrayList<>();
        findings.addAll(new KernelChecks(host, trials).findings());
        findings.addAll(new LiveChecks(trials).findings());
        findings.addAll(new ContainerChecks(host, trials, environment).findings());
        findings.addAll(new MemoryChecks(host, trials, environment).findings());
        findings.addAll(new DeviceChecks(host).findings());
        findings.addAll(DeviceChecks.verbs());
        findings.add(DeviceChecks.rack(RackTestCommand.missing()));
        findings.addAll(new ProcessChecks(host, environment).findings());
        return findings;
    }
}
