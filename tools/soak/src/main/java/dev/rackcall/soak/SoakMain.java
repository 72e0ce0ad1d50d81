package dev.rackcall.soak;

import java.time.Duration;
import java.util.EnumSet;
import java.util.Locale;

/**
 * {@code rackcall soak [--minutes N] [--seed N]}. Exit code 0 if every answer was right and nothing grew, 1 otherwise, 2
 * for wrong arguments.
 */
public final class SoakMain {
    private static final int DEFAULT_MINUTES = 60;

    private SoakMain() {}

    /** See the class. */
    public static void main(String[] arguments) throws Exception {
        int minutes = DEFAULT_MINUTES;
        long seed = System.nanoTime();
        for (int i = 0; i < arguments.length; i += 2) {
            String value = i + 1 < arguments.length ? arguments[i + 1] : "";
            if (arguments[i].equals("--minutes") && value.matches("[1-9]\\d{0,4}")) {
                minutes = Integer.parseInt(value);
            } else if (arguments[i].equals("--seed") && value.matches("-?\\d{1,18}")) {
                seed = Long.parseLong(value);
            } else {
                System.err.println("rackcall: soak cannot use '"
                        + (arguments[i] + " " + value).strip().toLowerCase(Locale.ROOT)
                        + "'; usage: rackcall soak [--minutes N] [--seed N]");
                System.exit(2);
            }
        }
        boolean passed;
        try (Soak soak = new Soak(EnumSet.allOf(SoakTransport.class), seed)) {
            passed = soak.run(Duration.ofMinutes(minutes));
        }
        System.exit(passed ? 0 : 1);
    }
}
