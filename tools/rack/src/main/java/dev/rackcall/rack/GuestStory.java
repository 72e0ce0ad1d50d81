package dev.rackcall.rack;

import dev.rackcall.rack.guest.Console;
import dev.rackcall.rack.guest.Step;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** The reports of a guest on its console, and the results of its steps. Not thread-safe. */
final class GuestStory {
    private final GuestSpec guest;
    private final Map<Step, Double> begun = new EnumMap<>(Step.class);
    private final Map<Step, Summary.StepResult> ended = new EnumMap<>(Step.class);
    private final Set<Step> killedFor = EnumSet.noneOf(Step.class);
    private double upAfter = -1;
    private String down = "";

    GuestStory(GuestSpec guest) {
        this.guest = guest;
    }

    /** Records a report, {@code at} seconds after the guest's start. */
    void tells(Console what, double at) {
        switch (what) {
            case Console.Up up -> upAfter = at;
            case Console.Begin begin -> begun.put(begin.step(), at);
            case Console.End end -> ended.put(end.step(), result(end.step(), end.ok(), at, end.text()));
            case Console.Kill kill -> {
                killedFor.add(kill.step());
                ended.put(kill.step(), result(kill.step(), true, at, "killed, as it should be"));
            }
            case Console.Down reason -> down = reason.text();
            case Console.Off off -> {
                if (off.status() != 0 && down.isEmpty()) {
                    down = "its program ended with status " + off.status();
                }
            }
        }
    }

    private Summary.StepResult result(Step step, boolean ok, double at, String text) {
        return new Summary.StepResult(step, guest.name(), ok, at - begun.getOrDefault(step, at), text);
    }

    /** Seconds until network and devices were up; negative if they never were. */
    double upAfter() {
        return upAfter;
    }

    /** Whether a step has begun and not ended. */
    boolean isCutOff() {
        return !ended.keySet().containsAll(begun.keySet());
    }

    /** The results of the planned steps of this guest; a step without a report has failed. */
    List<Summary.StepResult> results(Set<Step> planned) {
        List<Summary.StepResult> results = new ArrayList<>();
        for (Step step : planned) {
            if (step.isFor(guest.name())) {
                Summary.StepResult result = ended.get(step);
                results.add(
                        result != null ? result : new Summary.StepResult(step, guest.name(), false, 0, whyNot(step)));
            }
        }
        return results;
    }

    private String whyNot(Step step) {
        String why =
                begun.containsKey(step) ? "did not end" : upAfter < 0 ? "the guest did not come up" : "was not reached";
        return down.isEmpty() ? why : why + ": " + down;
    }
}
