package dev.rackcall.perf.peers;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class HeapGraphTest {
    @Test
    void shouldDecodeWhatItEncoded() {
        HeapGraph heap = HeapGraph.of(1000);
        heap.sequence(77);
        HeapGraph decoded = HeapGraph.decode(heap.encode(1000));
        assertThat(decoded.size()).isEqualTo(1000);
        assertThat(decoded.sequence()).isEqualTo(77);
    }
}
