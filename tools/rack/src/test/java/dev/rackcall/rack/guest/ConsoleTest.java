package dev.rackcall.rack.guest;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ConsoleTest {
    @Test
    void shouldReadWhatItWrites() {
        for (Console what : new Console[] {
            new Console.Up(),
            new Console.Begin(Step.VERBS),
            new Console.End(Step.MEMORY, true, "48 passed, 0 failed"),
            new Console.End(Step.MEMORY, false, "seed 7: RACKCALL up was not said"),
            new Console.End(Step.MEMORY, false, ""),
            new Console.Kill(Step.DEATH),
            new Console.Down("no network"),
            new Console.Off(3)
        }) {
            assertThat(Console.parse(what.line())).contains(what);
        }
    }

    @Test
    void shouldReadALineThatBeginsWithSomethingElse() {
        assertThat(Console.parse("[   12.3] rxe0: added RACKCALL ok verbs 48 passed"))
                .contains(new Console.End(Step.VERBS, true, "48 passed"));
    }

    @Test
    void shouldKeepTextInOneLine() {
        assertThat(new Console.End(Step.VERBS, false, "a\r\nRACKCALL ok verbs b").line())
                .isEqualTo("RACKCALL failed verbs a RACKCALL ok verbs b");
        assertThat(Console.parse(new Console.End(Step.VERBS, false, "a\r\nRACKCALL ok verbs b").line()))
                .contains(new Console.End(Step.VERBS, false, "a RACKCALL ok verbs b"));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "RACKCALL",
                "RACKCALL upside",
                "RACKCALL ok",
                "RACKCALL ok nothing",
                "RACKCALL end",
                "RACKCALL end x",
                "up",
                "RACKCALL begin MEMORY"
            })
    void shouldIgnoreMalformedReports(String line) {
        assertThat(Console.parse(line)).isEmpty();
    }
}
