package dev.rackcall.shm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.reflect.Constructor;
import java.util.function.LongUnaryOperator;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The code of arenas and scopes itself, one access to shared memory at a time, in an order that a seed decides; with processes that are held up, and processes that die, between any two.
 * {@code -Drackcall.orders} says how many orders, {@code -Drackcall.seed} which is the first.
 */
@Timeout(900)
class ArenaScheduleTest {
    private static final int FEW = 120;
    private static final int ORDERS = Integer.getInteger("rackcall.orders", FEW);
    /** A few are the same each time, many are others each time. */
    private static final long FIRST = Long.getLong("rackcall.seed", ORDERS == FEW ? 1 : System.nanoTime());

    private static final int SOON = 2_000;

    /** Accesses to shared memory in so many orders. */
    private static long explore(SteppedClasses classes, int orders) throws ReflectiveOperationException {
        Constructor<?> constructor =
                classes.loadClass(ScheduledArenas.class.getName()).getDeclaredConstructor(Integer.class);
        constructor.setAccessible(true);
        Object arenas = constructor.newInstance(classes.generationBits());
        long steps = 0;
        try (AutoCloseable closing = (AutoCloseable) arenas) {
            for (long seed = FIRST; seed < FIRST + orders; seed++) {
                try {
                    steps += ((LongUnaryOperator) arenas).applyAsLong(seed);
                } catch (AssertionError | RuntimeException e) {
                    throw new AssertionError(
                            "repeat with -Drackcall.orders=1 -Drackcall.seed=" + seed + ": " + e.getMessage(), e);
                }
            }
        } catch (Exception e) {
            throw new AssertionError(e);
        }
        return steps;
    }

    /** With so many bits they come round soon or, as everywhere else, seldom. */
    @ParameterizedTest
    @ValueSource(ints = {1, 2, 8})
    void shouldLeaveToEachWhatIsHisInAnyOrder(int generationBits) throws ReflectiveOperationException {
        assertThat(explore(new SteppedClasses(generationBits, ""), ORDERS)).isGreaterThan(500L * ORDERS);
    }

    /** A step that succeeds whether somebody was faster or not. */
    @ParameterizedTest
    @ValueSource(strings = {"PageRuns.revive", "PageRuns.takeOver"})
    void shouldFindAMistake(String credulous) {
        assertThatThrownBy(() -> explore(new SteppedClasses(2, credulous), SOON))
                .isInstanceOf(AssertionError.class)
                .hasMessageContaining("process ");
    }
}
