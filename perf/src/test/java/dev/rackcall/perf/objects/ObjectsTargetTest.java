package dev.rackcall.perf.objects;

import static org.assertj.core.api.Assertions.assertThat;

import dev.rackcall.perf.harness.BenchArena;
import dev.rackcall.perf.result.Micro;
import java.util.List;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

class ObjectsTargetTest {
    @Test
    void shouldMeasureEachSubject() {
        List<Micro> results = ObjectsTarget.measure(10_000_000);
        assertThat(results)
                .extracting(Micro::name)
                .contains(
                        "objects-write-document-rackcall",
                        "objects-write-document-jackson",
                        "objects-read-document-rackcall",
                        "objects-read-document-jackson",
                        "objects-create-point-rackcall")
                .doesNotHaveDuplicates();
        assertThat(results)
                .allSatisfy(result -> assertThat(result.allocBPerOp()).isNotNegative());
    }

    /** A side that skips a value would look fast. */
    @Test
    void shouldReadTheSameOfADocumentAtEachSide() {
        try (BenchArena memory = new BenchArena(ObjectsTarget.MEMORY_BYTES, ObjectsTarget.MEMORY_BYTES)) {
            assertThat(DocumentSubjects.of(memory).stream()
                            .filter(subject -> subject.name().startsWith("read-"))
                            .collect(Collectors.toMap(
                                    ObjectSubject::name,
                                    subject -> subject.operation().getAsLong()))
                            .values())
                    .hasSize(6)
                    .containsOnly(
                            DocumentSubjects.of(memory).getLast().operation().getAsLong());
        }
    }

    @Test
    void shouldWalkTheSameGraphAtEachSide() {
        try (BenchArena memory = new BenchArena(ObjectsTarget.MEMORY_BYTES, ObjectsTarget.MEMORY_BYTES)) {
            assertThat(GraphSubjects.of(memory).stream()
                            .map(walk -> walk.operation().getAsLong())
                            .distinct())
                    .hasSize(1);
        }
    }
}
