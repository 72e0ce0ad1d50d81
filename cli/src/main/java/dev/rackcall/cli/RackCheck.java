package dev.rackcall.cli;

import java.util.List;

/** Whether {@code ./rackcall rack-test} can run, which only those need who change Rackcall. */
final class RackCheck {
    private static final String SUBJECT = "rack";

    private RackCheck() {}

    static Finding of(List<String> missing) {
        return missing.isEmpty()
                ? Finding.ok(SUBJECT, "./rackcall rack-test can boot its virtual machines.")
                : Finding.note(SUBJECT, "./rackcall rack-test cannot run without " + String.join(", ", missing) + ".");
    }
}
