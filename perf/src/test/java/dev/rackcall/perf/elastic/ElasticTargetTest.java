package dev.rackcall.perf.elastic;

import static org.assertj.core.api.Assertions.assertThat;

import dev.rackcall.perf.harness.ClientSide;
import dev.rackcall.perf.harness.ServerSide;
import dev.rackcall.perf.harness.Sides;
import dev.rackcall.perf.result.BenchTarget;
import dev.rackcall.perf.result.Measurement;
import dev.rackcall.perf.result.Result;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ElasticTargetTest {
    @TempDir
    private Path directory;

    private static Result result(String name, long p50) {
        return Result.of(name, BenchTarget.ELASTIC, 1, 0, new Measurement(p50, p50, p50, p50, p50, 10, 1));
    }

    @Test
    void shouldSayHowMuchLessTimeItTakes() {
        List<Result> compared =
                ElasticTarget.compared(List.of(result(ElasticSides.VIRTUAL, 170), result(ElasticSides.FRESH, 1000)));
        assertThat(compared.getFirst().figures().get("less_percent")).isEqualTo(83.0);
        assertThat(compared.getLast().figures().get("less_percent")).isEqualTo(0.0);
        List<Result> both = ElasticTarget.compared(List.of(
                result(ElasticSides.VIRTUAL, 170),
                result(ElasticSides.FRESH, 1000),
                result(ElasticSides.VIRTUAL + "-first", 50),
                result(ElasticSides.FRESH + "-first", 100)));
        assertThat(both).extracting(each -> each.figures().get("less_percent")).containsExactly(83.0, 0.0, 50.0, 0.0);
        List<Result> alone = List.of(result(ElasticSides.VIRTUAL, 170));
        assertThat(ElasticTarget.compared(alone)).isEqualTo(alone);
    }

    @Test
    void shouldFindEveryKeyByWhatAClientReads() {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment table = arena.allocate(RaceTable.BYTES, 8);
            RaceTable.fill(table, 3);
            RaceReader local = new Local(table, arena.allocate(RaceReader.LANDING_BYTES, 8));
            for (long key = 1; key <= RaceTable.KEYS; key++) {
                assertThat(local.get(key)).isEqualTo(RaceTable.value(3, key));
            }
        }
    }

    @ParameterizedTest
    @CsvSource({"true, true", "false, true", "true, false", "false, false"})
    void shouldStartWorkersThatReadServers(boolean isVirtual, boolean readsAll) throws Exception {
        Sides subject = new ElasticSides(isVirtual, readsAll, 3, 2);
        try (ServerSide server = subject.serve(directory);
                ClientSide client = subject.connect(directory)) {
            client.call(1);
            client.call(2);
            assertThat(server).isNotNull();
        }
    }

    /** READs as copies. */
    private static final class Local extends RaceReader {
        private final MemorySegment table;
        private final MemorySegment landing;
        private int done;

        Local(MemorySegment table, MemorySegment landing) {
            super(landing);
            this.table = table;
            this.landing = landing;
        }

        @Override
        void read(long tableOffset, int landingOffset, int length) {
            assertThat(tableOffset % ValueLayout.JAVA_LONG.byteSize()).isZero();
            MemorySegment.copy(table, tableOffset, landing, landingOffset, length);
            done++;
        }

        @Override
        int completed() {
            int count = done;
            done = 0;
            return count;
        }
    }
}
