package dev.rackcall.cli.top;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class PrintableTextTest {
    @ParameterizedTest
    @ValueSource(
            strings = {"\u0000", "\n", "\u001b", "\u0085", "\u200b", "\u202e", "\u2028", "\u2029", "\ufeff", "\ud800"})
    void shouldReplaceWhatIsNotSeenOrTurnsText(String each) {
        assertThat(PrintableText.isPrintable(each)).isFalse();
        assertThat(PrintableText.of("a" + each + "b", 3, '?')).isEqualTo("a?b");
    }

    @Test
    void shouldKeepOtherCharactersAndCountThemAsReadersDo() {
        String text = "/stock-\u00e9\u4e2d\ud83d\ude80 x";
        assertThat(PrintableText.isPrintable(text)).isTrue();
        assertThat(PrintableText.of(text, 100, '?')).isEqualTo(text);
        assertThat(PrintableText.of(text, 10, '?')).isEqualTo("/stock-\u00e9\u4e2d\ud83d\ude80");
    }
}
