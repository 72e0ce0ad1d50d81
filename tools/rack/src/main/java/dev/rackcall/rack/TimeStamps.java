package dev.rackcall.rack;

import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;

/**
 * How fast this machine's time-stamp counter counts, which is that of its guests under emulation, and their clock. A guest that measures it for itself while it boots compares it with a timer that is emulated, too:
 * on a machine that has other work it got a fifth of the truth, its clock ran five times too fast, and all of its time-outs passed early. So it is measured here, by two
 * readings of which each is known to have been made at one moment, and guests are told.
 */
final class TimeStamps {
    private static final String PROGRAM = """
            #include <stdio.h>
            #include <time.h>
            #include <x86intrin.h>

            static long long nanos(void) {
                struct timespec t;
                clock_gettime(CLOCK_MONOTONIC_RAW, &t);
                return t.tv_sec * 1000000000LL + t.tv_nsec;
            }

            /* Both at one moment: of many pairs of readings that between whose ends the least time has passed. */
            static void both(unsigned long long *ticks, long long *at) {
                unsigned long long least = -1;
                for (int i = 0; i < 1000; i++) {
                    unsigned long long before = __rdtsc();
                    long long now = nanos();
                    unsigned long long after = __rdtsc();
                    if (after - before < least) {
                        least = after - before;
                        *ticks = before + least / 2;
                        *at = now;
                    }
                }
            }

            int main(void) {
                unsigned long long first, last;
                long long begin, end;
                both(&first, &begin);
                nanosleep(&(struct timespec) {.tv_nsec = 300000000}, 0);
                both(&last, &end);
                printf("%.0f\\n", (last - first) * 1e6 / (end - begin));
            }
            """;

    private TimeStamps() {}

    /** Thousands a second. */
    static long perMillisecond(Path folder) throws NotRunException {
        Path program = folder.resolve("time-stamps").toAbsolutePath();
        Program.output(
                List.of("cc", "-O1", "-x", "c", "-o", program.toString(), "-"),
                folder,
                PROGRAM.getBytes(StandardCharsets.UTF_8));
        String said = Program.text(List.of(program.toString()), folder).strip();
        try {
            return Long.parseLong(said);
        } catch (NumberFormatException e) {
            throw new NotRunException("the speed of the time-stamp counter is said to be " + said, e);
        }
    }
}
