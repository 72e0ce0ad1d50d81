package dev.rackcall.cli;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class KernelVersionTest {
    @ParameterizedTest
    @CsvSource({"6.1.0-37-amd64, 6, 1", "5.15.153.1-microsoft-standard-WSL2, 5, 15", "6.18, 6, 18"})
    void shouldReadTheFirstTwoNumbers(String release, int major, int minor) {
        assertThat(KernelVersion.parse(release)).contains(new KernelVersion(major, minor));
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "unknown", "6", "six.one", "99999999999.1"})
    void shouldFindNoVersionInOtherText(String release) {
        assertThat(KernelVersion.parse(release)).isEmpty();
    }

    @Test
    void shouldCompareNumbersAndNotText() {
        KernelVersion version = new KernelVersion(6, 9);

        assertThat(version.isAtLeast(6, 10)).isFalse();
        assertThat(version.isAtLeast(6, 9)).isTrue();
        assertThat(version.isAtLeast(5, 19)).isTrue();
        assertThat(version.isAtLeast(7, 0)).isFalse();
    }
}
