package dev.rackcall.sandbox;

import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.rackcall.sandbox.os.Guard;
import dev.rackcall.shm.Ref;
import dev.rackcall.shm.Scope;
import dev.rackcall.shm.SealedScopeException;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Seals as device-dax memory needs them: by mprotect, with the guard. */
class MprotectSealsTest {
    private final Guard guard = Skip.unless(Guard::install);
    private final SealBench bench = SealBench.byMprotect(4 << 20, 64);

    @AfterEach
    void close() {
        bench.close();
    }

    @Test
    void shouldRefuseStoresAndNameExactlyTheScope() {
        assertThat(Guard.installed()).contains(guard);
        List<Scope> scopes = new ArrayList<>();
        List<Long> numbers = new ArrayList<>();
        for (int i = 0; i < 8; i++) {
            scopes.add(bench.arena.newScope());
            numbers.add(bench.seals.seal(scopes.get(i), "call " + i));
        }

        for (int i = 0; i < 8; i++) {
            long offset = Ref.offset(scopes.get(i).firstRun()) + 512;
            assertThatThrownBy(() -> Seals.guarded(() -> bench.arena.memory().set(JAVA_LONG, offset, 1)))
                    .isInstanceOf(SealedScopeException.class)
                    .hasMessageContaining("sealed by call " + i)
                    .hasMessageNotContaining("sealed by call " + (i + 1) % 8);
            assertThat(bench.received().get(JAVA_LONG, offset)).isZero();
        }

        numbers.forEach(bench.receiver::markDone);
        numbers.forEach(bench.seals::releaseLater);
        assertThat(bench.seals.flush()).isEqualTo(8);
        scopes.forEach(scope -> bench.arena.memory().set(JAVA_LONG, Ref.offset(scope.firstRun()) + 512, 1));
    }

    @Test
    void shouldOpenEverythingAtTheEnd() {
        Scope scope = bench.arena.newScope();
        bench.seals.seal(scope, "call");

        bench.seals.close();

        bench.arena.memory().set(JAVA_LONG, Ref.offset(scope.firstRun()) + 512, 1);
        assertThat(bench.received().get(JAVA_LONG, Ref.offset(scope.firstRun()) + 512))
                .isEqualTo(1);
    }
}
