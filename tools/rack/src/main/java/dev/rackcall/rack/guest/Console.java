package dev.rackcall.rack.guest;

import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A guest's report to the machine, one line on its console, among other output:
 *
 * <pre>
 *   RACKCALL up                      network and devices are there
 *   RACKCALL begin STEP
 *   RACKCALL ok STEP TEXT
 *   RACKCALL failed STEP TEXT
 *   RACKCALL kill STEP               the machine is to kill this guest now
 *   RACKCALL down: TEXT              it cannot go on
 *   RACKCALL end STATUS              it switches itself off
 * </pre>
 */
public sealed interface Console {
    /** Network and devices are there. */
    record Up() implements Console {}

    /** A step has begun. */
    record Begin(Step step) implements Console {}

    /** A step has ended. */
    record End(Step step, boolean ok, String text) implements Console {}

    /** The guest is to be killed now, which is part of the step. */
    record Kill(Step step) implements Console {}

    /** The guest cannot continue. */
    record Down(String text) implements Console {}

    /** The guest switches itself off. */
    record Off(int status) implements Console {}

    /** Replaces control characters in a text, so that it stays in its line. */
    private static String oneLine(String text) {
        return text.replaceAll("[\\p{Cntrl}]+", " ").strip();
    }

    /** As it is written; without a line's end. */
    default String line() {
        return "RACKCALL "
                + switch (this) {
                    case Up up -> "up";
                    case Begin begin -> "begin " + begin.step().word();
                    case End end -> (end.ok() ? "ok " : "failed ") + end.step().word() + " " + oneLine(end.text());
                    case Kill kill -> "kill " + kill.step().word();
                    case Down down -> "down: " + oneLine(down.text());
                    case Off off -> "end " + off.status();
                };
    }

    /**
     * The report in a line of a console; empty for other output. The kernel may have written before it in the same
     * line.
     */
    static Optional<Console> parse(String line) {
        Matcher matcher = Lines.FORM.matcher(line);
        if (!matcher.find()) {
            return Optional.empty();
        }
        String rest = matcher.group("rest").strip();
        try {
            return Optional.of(
                    switch (matcher.group("word")) {
                        case "up" -> new Up();
                        case "begin" -> new Begin(Step.ofWord(rest));
                        case "ok" -> end(rest, true);
                        case "failed" -> end(rest, false);
                        case "kill" -> new Kill(Step.ofWord(rest));
                        case "down:" -> new Down(rest);
                        default -> new Off(Integer.parseInt(rest));
                    });
        } catch (IllegalArgumentException e) {
            return Optional.empty();
        }
    }

    private static End end(String rest, boolean ok) {
        String[] stepAndText = rest.split(" ", 2);
        return new End(Step.ofWord(stepAndText[0]), ok, stepAndText.length == 2 ? stepAndText[1] : "");
    }

    /** The form of a line. */
    final class Lines {
        private static final Pattern FORM =
                Pattern.compile("RACKCALL (?<word>up|begin|ok|failed|kill|down:|end)(?<rest>| .*)$");

        private Lines() {}
    }
}
