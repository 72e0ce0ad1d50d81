package dev.rackcall.cli;

import java.util.Locale;

/**
 * One finding of {@code doctor} about the host.
 *
 * @param level its severity
 * @param subject the feature, for example {@code memfd}
 * @param sentence the finding and the next step
 */
record Finding(Level level, String subject, String sentence) {
    /** The severity of a finding. */
    enum Level {
        /** Available and in order. */
        OK,
        /** Missing or not ideal; Rackcall works without it. */
        NOTE,
        /** Something that Rackcall needs is missing. */
        PROBLEM
    }

    static Finding ok(String subject, String sentence) {
        return new Finding(Level.OK, subject, sentence);
    }

    static Finding note(String subject, String sentence) {
        return new Finding(Level.NOTE, subject, sentence);
    }

    static Finding problem(String subject, String sentence) {
        return new Finding(Level.PROBLEM, subject, sentence);
    }

    @Override
    public String toString() {
        return String.format(Locale.ROOT, "%-8s %-16s %s", level.name().toLowerCase(Locale.ROOT), subject, sentence);
    }
}
