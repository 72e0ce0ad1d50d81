package dev.rackcall.cli;

import java.util.Locale;

/**
 * One thing that {@code doctor} found out about the host.
 *
 * @param level whether anything should be done about it
 * @param subject the feature, for example {@code memfd}
 * @param sentence what was found and what to do next
 */
record Finding(Level level, String subject, String sentence) {
    /** How much a finding matters. */
    enum Level {
        /** There, and in order. */
        OK,
        /** Not there or not ideal; Rackcall works without it. */
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
