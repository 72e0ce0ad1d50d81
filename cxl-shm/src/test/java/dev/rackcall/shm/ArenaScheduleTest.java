package dev.rackcall.shm;

import static dev.rackcall.testkit.Thrown.assertThrown;
import static org.assertj.core.api.Assertions.assertThat;

import java.lang.reflect.Constructor;
import java.util.function.LongUnaryOperator;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Runs the code of arenas and scopes one access to shared memory at a time, in an order that a seed decides. Processes
 * pause and die between any two accesses. {@code -Drackcall.orders} sets the number of orders, {@code -Drackcall.seed}
 * the first seed.
 */
@Timeout(900)
class ArenaScheduleTest {
    private static final int FEW = 120;
    private static final int ORDERS = Integer.getInteger("rackcall.orders", FEW);
    /** A few runs always use the same orders, many use new ones. */
    private static final long FIRST = Long.getLong("rackcall.seed", ORDERS == FEW ? 1 : System.nanoTime());

    private static final int SOON = 2_000;

    /** Accesses to shared memory in that many orders. */
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

    /** With few bits, generations repeat soon; with 8, as usual, seldom. */
    @ParameterizedTest
    @ValueSource(ints = {1, 2, 8})
    void shouldLeaveToEachWhatIsHisInAnyOrder(int generationBits) throws ReflectiveOperationException {
        assertThat(explore(new SteppedClasses(generationBits, ""), ORDERS)).isGreaterThan(500L * ORDERS);
    }

    /** A step that succeeds even if another process was faster. */
    @ParameterizedTest
    @ValueSource(strings = {"PageRuns.revive", "PageRuns.takeOver"})
    void shouldFindAMistake(String credulous) {
        assertThrown(AssertionError.class, () -> explore(new SteppedClasses(2, credulous), SOON), "process ");
    }
}
