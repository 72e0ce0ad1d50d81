package dev.rackcall.rpc.call;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.rackcall.rpc.Metadata;
import org.junit.jupiter.api.Test;

/** Metadata refuses invalid entries when it is built. */
class MetadataTest {
    @Test
    void shouldKeepTheLastOfEachKeyInOrder() {
        Metadata metadata = Metadata.builder()
                .add("b", "1")
                .add("a-bin", new byte[] {1})
                .add("b", "2")
                .build();
        assertThat(metadata.keys()).containsExactly("b", "a-bin");
        assertThat(metadata.text("b")).contains("2");
        assertThat(metadata.with(Metadata.of("b", "3")).text("b")).contains("3");
        assertThat(metadata.text("b")).contains("2");
        assertThat(Metadata.builder().build()).isSameAs(Metadata.EMPTY);
    }

    @Test
    void shouldRefuseMorePairsThanTravel() {
        Metadata.Builder builder = Metadata.builder();
        for (int i = 0; i < Metadata.MAX_PAIRS; i++) {
            builder.add("key" + i, "value").add("key" + i, "value again");
        }
        Metadata full = builder.build();
        assertThat(full.keys()).hasSize(Metadata.MAX_PAIRS);
        assertThatThrownBy(() -> builder.add("more", "")).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> full.with("more", "")).hasMessageContaining("129 pairs");
    }

    @Test
    void shouldRefuseMoreBytesThanTravel() {
        byte[] most = new byte[Metadata.MAX_BYTES - "a-bin".length()];
        Metadata full = Metadata.EMPTY.with("a-bin", most);
        assertThat(full.with("a-bin", most).bytes("a-bin")).contains(most);
        assertThatThrownBy(() -> full.with("b", "")).hasMessageContaining((Metadata.MAX_BYTES + 1) + " bytes");
    }

    @Test
    void shouldShowOnlyTheBeginningOfAKeyThatIsNone() {
        assertThatThrownBy(() -> Metadata.of("A".repeat(1 << 20), "value"))
                .isInstanceOf(IllegalArgumentException.class)
                .satisfies(e -> assertThat(e.getMessage()).hasSizeLessThan(300));
        assertThatThrownBy(() -> Metadata.of("raw-bin", "text")).hasMessageContaining("byte[]");
        assertThatThrownBy(() -> Metadata.EMPTY.with("text", new byte[1])).hasMessageContaining("-bin");
    }
}
