package dev.rackcall.route;

import static org.assertj.core.api.Assertions.assertThat;

import dev.rackcall.route.Announcer.LoadMeter;
import org.junit.jupiter.api.Test;

/** What a server reports about its load, and when. */
class LoadMeterTest {
    private final LoadMeter meter = new LoadMeter();

    @Test
    void shouldTellTheAverageOfAWhileAndBeginAnew() {
        for (int i = 1; i < LoadMeter.LOOKS; i++) {
            assertThat(meter.see(i % 2 == 0 ? 100 : 0)).isEmpty();
        }
        assertThat(meter.see(100)).hasValue(50);
        for (int i = 1; i < LoadMeter.LOOKS; i++) {
            assertThat(meter.see(1)).isEmpty();
        }
        assertThat(meter.see(0)).hasValue(1);
    }

    @Test
    void shouldTellWhatDiffersByHalf() {
        assertThat(LoadMeter.isNews(0, 0)).isFalse();
        // An average ending in a half is rounded sometimes up and sometimes down.
        assertThat(LoadMeter.isNews(0, 1)).isFalse();
        assertThat(LoadMeter.isNews(1, 0)).isFalse();
        assertThat(LoadMeter.isNews(0, 2)).isTrue();
        assertThat(LoadMeter.isNews(2, 0)).isTrue();
        assertThat(LoadMeter.isNews(100, 150)).isFalse();
        assertThat(LoadMeter.isNews(100, 151)).isTrue();
        assertThat(LoadMeter.isNews(100, 67)).isFalse();
        assertThat(LoadMeter.isNews(100, 66)).isTrue();
        assertThat(LoadMeter.isNews(1, Integer.MAX_VALUE)).isTrue();
    }
}
