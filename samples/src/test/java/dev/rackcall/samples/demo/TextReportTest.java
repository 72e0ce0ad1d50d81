package dev.rackcall.samples.demo;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class TextReportTest {
    @Test
    void shouldUseTheSingularForOne() {
        assertThat(TextReport.count(1, "client process")).isEqualTo("1 client process");
        assertThat(TextReport.count(3, "client process")).isEqualTo("3 client processes");
        assertThat(TextReport.count(1, "match")).isEqualTo("1 match");
        assertThat(TextReport.count(0, "match")).isEqualTo("0 matches");
        assertThat(TextReport.count(12_000, "document")).isEqualTo("12,000 documents");
        assertThat(TextReport.count(2, "search")).isEqualTo("2 searches");
    }
}
