package dev.rackcall.shm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.rackcall.shm.sample.Point;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** A listener learns of a scope's end while its memory is still unchanged. */
class ScopeEndTest {
    private final TestMemory memory = TestMemory.create(1 << 20);
    private final Scope scope = memory.scope();
    private final Point point = scope.create(Point.class);
    private final List<String> heard = new ArrayList<>();
    private boolean mayEnd = true;

    private final class Listener implements ScopeEnd {
        @Override
        public boolean ends(long firstRun) {
            // The objects are readable until the end.
            assertThat(!heard.isEmpty() || point.x() == 7).isTrue();
            heard.add("ends " + Ref.generation(firstRun));
            return mayEnd;
        }

        @Override
        public void begins(long firstRun) {
            assertThat(firstRun).isEqualTo(scope.firstRun());
            heard.add("begins " + Ref.generation(firstRun));
        }
    }

    /** Adds the name of each event. */
    record Recording(List<String> heard) implements ScopeEnd {
        @Override
        public boolean ends(long firstRun) {
            return heard.add("ends");
        }

        @Override
        public boolean resets(long firstRun) {
            return heard.add("resets");
        }

        @Override
        public void begins(long firstRun) {
            heard.add("begins");
        }
    }

    @AfterEach
    void close() {
        memory.close();
    }

    private int listen() {
        point.x(7);
        scope.onEnd(new Listener());
        return Ref.generation(scope.firstRun());
    }

    @Test
    void shouldTellBeforeTheMemoryIsFreed() {
        int generation = listen();
        scope.close();
        scope.close();
        assertThat(heard).containsExactly("ends " + generation);
        assertThat(scope.arena().usedBytes()).isZero();
    }

    @Test
    void shouldTellBeforeAResetAndAfterIt() {
        int generation = listen();
        scope.reset();
        assertThat(heard).containsExactly("ends " + generation, "begins " + (generation + 1));
    }

    @Test
    void shouldTellAResetFromTheEnd() {
        scope.onEnd(new Recording(heard));
        scope.reset();
        scope.close();
        assertThat(heard).containsExactly("resets", "begins", "ends");
    }

    @Test
    void shouldKeepTheMemoryOfWhomItMustNotEndFor() {
        listen();
        mayEnd = false;
        long used = scope.arena().usedBytes();
        assertThatThrownBy(scope::reset).isInstanceOf(ScopeException.class).hasMessageContaining("cannot be reset");
        scope.close();
        assertThat(heard).hasSize(2);
        assertThat(scope.arena().usedBytes()).isEqualTo(used);
    }
}
