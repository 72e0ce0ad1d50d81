package dev.rackcall.sandbox;

import static org.assertj.core.api.Assertions.assertThat;

import dev.rackcall.shm.Scope;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import jdk.jfr.Recording;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordingFile;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class IsolationEventsTest {
    @TempDir
    private Path folder;

    @Test
    void shouldRecordSealsReleasesAndViolations() throws IOException {
        IsolationEvents.Counters before = IsolationEvents.counters();
        try (Recording recording = new Recording();
                SealBench bench = SealBench.of(1 << 20, 16, 16)) {
            recording.enable("dev.rackcall.Seal").withoutThreshold();
            recording.enable("dev.rackcall.SealRelease").withoutThreshold();
            recording.enable("dev.rackcall.IsolationViolation");
            recording.start();
            Scope scope = bench.arena.newScope();
            scope.allocate(100);
            long seal = bench.seals.seal(scope, "call /shop/search.index");
            bench.receiver.markDone(seal);
            bench.seals.release(seal);
            bench.seals.revoke(bench.seals.seal(scope, "call /shop/cart.add"));
            IsolationEvents.violation(IsolationEvents.Violation.SANDBOX, "call /shop/search.index", "Ref(null)");
            recording.stop();
            Path file = folder.resolve("events.jfr");
            recording.dump(file);

            List<RecordedEvent> events = RecordingFile.readAllEvents(file).stream()
                    .filter(event -> event.getEventType().getName().startsWith("dev.rackcall."))
                    .toList();
            assertThat(events)
                    .extracting(event -> event.getEventType().getLabel())
                    .containsExactlyInAnyOrder("Seal", "Seal Release", "Seal", "Seal Release", "Isolation Violation");
            RecordedEvent first = named(events, "dev.rackcall.Seal");
            assertThat(first.getInt("arena")).isEqualTo(SealBench.ARENA_ID);
            assertThat(first.getLong("bytes")).isBetween(100L, 4096L);
            assertThat(first.getString("call")).startsWith("call /shop/");
            RecordedEvent violation = named(events, "dev.rackcall.IsolationViolation");
            assertThat(violation.getString("kind")).isEqualTo("SANDBOX");
            assertThat(violation.getStackTrace()).isNotNull();
        }
        IsolationEvents.Counters after = IsolationEvents.counters();
        assertThat(after.seals() - before.seals()).isEqualTo(2);
        assertThat(after.releases() - before.releases()).isEqualTo(2);
        assertThat(after.revocations() - before.revocations()).isEqualTo(1);
        assertThat(after.violations() - before.violations()).isEqualTo(1);
    }

    private static RecordedEvent named(List<RecordedEvent> events, String name) {
        return events.stream()
                .filter(event -> event.getEventType().getName().equals(name))
                .findFirst()
                .orElseThrow();
    }
}
