package dev.rackcall.perf;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;

/** Measures the targets that were asked for, one after the other. */
final class BenchRun {
    private final Selection selection;
    private final Plan plan;
    private final Runner runner;

    BenchRun(Selection selection, Plan plan) {
        this.selection = selection;
        this.plan = plan;
        this.runner = new Runner(plan);
    }

    /** @param command what was run, for the report */
    Outcome measure(String command) {
        Machine machine = Machine.describe(plan.cores(), command, plan.durationNanos() / 1e9);
        List<String> skipped = selection.skipped();
        skipped.forEach(what -> plan.say("SKIPPED " + what));
        List<Result> results = new ArrayList<>();
        List<Micro> micro = new ArrayList<>();
        try (Workspace workspace = Workspace.create()) {
            for (Target target : selection.targets()) {
                if (target == Target.JMH) {
                    plan.say("jmh: all");
                    micro.addAll(JmhTarget.runAll(plan.durationNanos()));
                } else {
                    results.addAll(measure(target, workspace));
                }
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return new Outcome(machine, results, micro, skipped, runner.failures());
    }

    private List<Result> measure(Target target, Workspace workspace) {
        return switch (target) {
            case RTT, ISOLATION, VERBS, RDMA -> turns(target, workspace);
            case THROUGHPUT -> runner.run(target, target::measures, new ThroughputTarget(plan, workspace)::measure);
            case CONNECT -> {
                // Connections that calls go over, and those of the control plane, which are so short that they take
                // turns.
                List<Result> results = new ArrayList<>(
                        runner.run(target, Subject::takesManyConnections, new ConnectTarget(plan, workspace)::measure));
                results.addAll(turns(target, workspace));
                yield results;
            }
            case ELASTIC -> runner.runGroups(target, elastic(), new ElasticTarget(plan, workspace, runner)::measure);
            case IDLE -> runner.run(target, target::measures, new IdleTarget(plan, workspace)::measure);
            case START -> runner.run(target, target::measures, new StartTarget(workspace)::measure);
            case ALOCK -> new LockTarget(plan).measure();
            case JMH -> throw new IllegalArgumentException("JMH brings processes of its own");
        };
    }

    private List<Result> turns(Target target, Workspace workspace) {
        return runner.runGroups(
                target,
                RttTarget.groups(target, plan.subjects()),
                new RttTarget(target, plan, workspace, runner)::measure);
    }

    /** All in one group, to take turns. */
    private List<List<Subject>> elastic() {
        List<Subject> group =
                plan.subjects().stream().filter(Target.ELASTIC::measures).toList();
        return group.isEmpty() ? List.of() : List.of(group);
    }
}
