package dev.rackcall.perf;

import dev.rackcall.perf.alock.LockComparison;
import dev.rackcall.perf.alock.LockTarget;
import dev.rackcall.perf.calls.ThreadedCalls;
import dev.rackcall.perf.crowd.CrowdTarget;
import dev.rackcall.perf.elastic.ElasticTarget;
import dev.rackcall.perf.harness.BenchPlan;
import dev.rackcall.perf.harness.MeasuredProcess;
import dev.rackcall.perf.harness.Rounds;
import dev.rackcall.perf.harness.Subject;
import dev.rackcall.perf.harness.Workspace;
import dev.rackcall.perf.isolation.IsolationSubjects;
import dev.rackcall.perf.isolation.NeighbourCall;
import dev.rackcall.perf.jmh.JmhTarget;
import dev.rackcall.perf.objects.ObjectsTarget;
import dev.rackcall.perf.rare.RareTarget;
import dev.rackcall.perf.result.BenchOutcome;
import dev.rackcall.perf.result.BenchTarget;
import dev.rackcall.perf.result.Crossing;
import dev.rackcall.perf.result.Machine;
import dev.rackcall.perf.result.Micro;
import dev.rackcall.perf.result.Result;
import dev.rackcall.perf.social.SocialTarget;
import dev.rackcall.perf.targets.ConnectTarget;
import dev.rackcall.perf.targets.IdleTarget;
import dev.rackcall.perf.targets.RttTarget;
import dev.rackcall.perf.targets.StartTarget;
import dev.rackcall.perf.targets.ThroughputTarget;
import dev.rackcall.perf.ycsb.YcsbTarget;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;

/**
 * Measures the chosen targets, one after the other.
 *
 * @param selection what to measure
 * @param plan how
 */
record BenchRun(BenchSelection selection, BenchPlan plan) {
    /** @param command the command line, for the report */
    BenchOutcome measure(String command) {
        return measure(command, new Rounds(plan));
    }

    /** The same with rounds of this plan that may have a limit of time. */
    BenchOutcome measure(String command, Rounds rounds) {
        Machine machine = Machine.describe(
                plan.cores().pinned(), MeasuredProcess.measuringFlags(), command, plan.durationNanos() / 1e9);
        List<String> skipped = selection.skipped();
        skipped.forEach(what -> plan.say("SKIPPED " + what));
        List<Result> results = new ArrayList<>();
        List<Micro> micro = new ArrayList<>();
        try (Workspace workspace = Workspace.create()) {
            for (BenchTarget target : selection.targets()) {
                if (target == BenchTarget.JMH) {
                    plan.say("jmh: all");
                    micro.addAll(JmhTarget.runAll(plan.durationNanos()));
                } else if (target == BenchTarget.OBJECTS) {
                    plan.say("objects: all");
                    micro.addAll(ObjectsTarget.measure(plan.durationNanos()));
                } else {
                    results.addAll(measure(target, workspace, rounds));
                }
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        List<Crossing> crossings = IsolationSubjects.crossings(results);
        Map<BenchTarget, List<String>> notes = Map.of(
                BenchTarget.ISOLATION,
                        crossings.stream().map(Crossing::sentence).toList(),
                BenchTarget.ALOCK, LockComparison.best(results));
        return new BenchOutcome(
                machine, results, micro, skipped, rounds.failures(), crossings, notes, settings(results));
    }

    /** The settings of the results' subjects, by the names of the subjects that have them in common. */
    private Map<String, String> settings(List<Result> results) {
        Map<String, String> namesBySettings = new LinkedHashMap<>();
        for (Subject subject : plan.subjects()) {
            if (results.stream().anyMatch(result -> result.name().equals(subject.name()))) {
                namesBySettings.merge(subject.settings(), subject.name(), (one, other) -> one + ", " + other);
            }
        }
        Map<String, String> settings = new LinkedHashMap<>();
        namesBySettings.forEach((common, names) -> settings.put(names, common));
        return settings;
    }

    private List<Result> measure(BenchTarget target, Workspace workspace, Rounds rounds) {
        Predicate<Subject> measured = subject -> subject.isMeasuredBy(target);
        return switch (target) {
            case RTT, ISOLATION, METRICS, VERBS, RDMA -> turns(target, workspace, rounds);
            case GRPC -> {
                List<Result> results = new ArrayList<>(turns(target, workspace, rounds));
                results.addAll(rounds.run(
                        target,
                        measured.and(subject -> subject.has(Subject.Trait.IDLES)),
                        new IdleTarget(plan, workspace)::thousand));
                yield results;
            }
            case THROUGHPUT -> {
                // One thread with several calls in flight; and many threads, which take turns.
                List<Result> results = new ArrayList<>(rounds.run(
                        target,
                        subject -> subject.has(Subject.Trait.PIPELINES),
                        new ThroughputTarget(plan, workspace)::measure));
                results.addAll(ThreadedCalls.withWhole(turns(target, workspace, rounds)));
                yield results;
            }
            case CROWD -> new CrowdTarget(plan, workspace, rounds).measure();
            case YCSB -> new YcsbTarget(plan, workspace, rounds).measure();
            case RARE -> new RareTarget(plan, workspace, rounds).measure();
            case SOCIAL -> new SocialTarget(plan, workspace, rounds).measure();
            case CONNECT -> {
                // Connections that calls use; and those of the control plane, which are short and take turns.
                List<Result> results = new ArrayList<>(rounds.run(
                        target,
                        subject -> subject.has(Subject.Trait.MANY_CONNECTIONS),
                        new ConnectTarget(plan, workspace)::measure));
                results.addAll(turns(target, workspace, rounds));
                yield results;
            }
            case ELASTIC -> {
                List<Subject> group = plan.subjects().stream().filter(measured).toList();
                yield rounds.runGroups(
                        target,
                        group.isEmpty() ? List.of() : List.of(group),
                        new ElasticTarget(plan, workspace, rounds)::measure);
            }
            case IDLE -> rounds.run(target, measured, new IdleTarget(plan, workspace)::measure);
            case START -> rounds.run(target, measured, new StartTarget(workspace)::measure);
            case ALOCK -> new LockTarget(plan).measure();
            case JMH, OBJECTS -> throw new IllegalArgumentException(target.word() + " has no results of this kind");
        };
    }

    private List<Result> turns(BenchTarget target, Workspace workspace, Rounds rounds) {
        RttTarget roundTrips = new RttTarget(target, plan, workspace, rounds);
        return rounds.runGroups(
                target,
                RttTarget.groups(target, plan.subjects()),
                group -> NeighbourCall.withRatios(roundTrips.measure(group)));
    }
}
