package dev.rackcall.rpc.balance;

import static org.assertj.core.api.Assertions.assertThat;

import dev.rackcall.rpc.CallObserver;
import dev.rackcall.rpc.Isolation;
import dev.rackcall.rpc.Metadata;
import dev.rackcall.rpc.MethodDescriptor;
import dev.rackcall.rpc.Status;
import dev.rackcall.rpc.spi.ClientCall;
import dev.rackcall.rpc.spi.ClientConnection;
import dev.rackcall.rpc.spi.ServedInterface;
import dev.rackcall.rpc.spi.ServiceDefinition;
import dev.rackcall.shm.Scope;
import dev.rackcall.testkit.Await;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** Which subchannel a call takes, as far as that does not depend on chance. */
class SubchannelTest {
    /** So often it is asked, since it begins anywhere. */
    private static final int TIMES = 64;
    /** Failures of six more times. */
    private static final int OFTEN = 6 * Subchannel.FAILURES;

    private final NoConnection firstConnection = new NoConnection();
    private final Subchannel first = new Subchannel(firstConnection);
    private final Subchannel second = new Subchannel(new NoConnection());
    private final Subchannel third = new Subchannel(new NoConnection());

    @Test
    void shouldTakeTheOneWithTheFewestCalls() {
        begin(first, 3);
        begin(second, 2);
        begin(third, 4);
        assertAlways(second, List.of());
        begin(second, 5);
        assertAlways(first, List.of());
        second.ended(Status.Code.OK);
        assertThat(second.calls()).isEqualTo(6);
    }

    @Test
    void shouldAvoidTheOneThatFailsOften() {
        begin(second, 9);
        begin(third, 8);
        fail(first, Subchannel.FAILURES - 1);
        assertAlways(first, List.of());

        fail(first, 1);
        // The first time is a second, in which this thread may get no processor; the seventh is a minute.
        fail(first, OFTEN);
        assertThat(first.isEjected()).isTrue();
        assertAlways(third, List.of());
        // Where all of them are, there is nothing to choose between.
        fail(second, Subchannel.FAILURES + OFTEN);
        fail(third, Subchannel.FAILURES + OFTEN);
        assertAlways(first, List.of());
    }

    @Test
    void shouldEjectALineAtItsFifthFailureInARow() {
        // Where this thread gets no processor for the second that the first time lasts, another one shows it.
        Await.until("a subchannel that is ejected", () -> {
            Subchannel subchannel = new Subchannel(new NoConnection());
            fail(subchannel, Subchannel.FAILURES - 1);
            assertThat(subchannel.isEjected()).isFalse();
            fail(subchannel, 1);
            return subchannel.isEjected();
        });
    }

    @Test
    void shouldTakeItAgainAfterASecond() {
        begin(second, 9);
        begin(third, 8);
        fail(first, Subchannel.FAILURES);
        Await.until("the end of its first time, a second", () -> !first.isEjected());
        assertAlways(first, List.of());
    }

    /** Four errors, an answer, four errors: that is not a row of five. */
    @Test
    void shouldForgetFailuresWithTheFirstAnswer() {
        fail(first, Subchannel.FAILURES - 1);
        begin(first, 1);
        first.ended(Status.Code.NOT_FOUND);
        fail(first, Subchannel.FAILURES - 1);
        assertThat(first.isEjected()).isFalse();
    }

    @Test
    void shouldTakeWhatIsLeft() {
        begin(second, 1);
        begin(third, 2);
        firstConnection.usable = false;
        assertAlways(second, List.of());
        assertAlways(third, List.of(second));
        // One that cannot be used is better than one that this call has tried.
        assertAlways(first, List.of(second, third));
    }

    @Test
    void shouldTakeTheLessLoadedServerMoreOftenWhereItHasNoFewerCalls() {
        // Ten times as many as the third has.
        first.load(99);
        second.load(99);
        int[] taken = take(6000);
        assertThat(taken[0]).isBetween(250, 900);
        assertThat(taken[1]).isBetween(250, 900);
        assertThat(taken[2]).isGreaterThan(4000);

        begin(third, 1);
        assertThat(take(1000)[2]).as("calls of its own come first").isZero();
        third.ended(Status.Code.OK);
        first.load(0);
        second.load(0);
        for (int each : take(6000)) {
            assertThat(each).isBetween(1600, 2400);
        }
    }

    /**
     * All clients choose by what was so when they last heard of it. If they all chose the least loaded server, it would
     * be another one each time, and the most loaded one in between.
     */
    @Test
    void shouldSettleAlthoughLoadsAreOld() {
        first.load(1000);
        second.load(0);
        third.load(0);
        int[] taken = {};
        for (int i = 0; i < 12; i++) {
            taken = take(6000);
            first.load(taken[0] / 6);
            second.load(taken[1] / 6);
            third.load(taken[2] / 6);
        }
        for (int each : taken) {
            assertThat(each).isBetween(1500, 2500);
        }
    }

    @Test
    void shouldStayForHeldObjectsUntilItsServerEndsItOrForThirtySecondsWhereThatGoesOn() {
        long now = System.nanoTime();
        long longAgo = now - TimeUnit.SECONDS.toNanos(31);
        assertThat(first.isHeld(now)).isFalse();
        firstConnection.held = true;
        assertThat(first.isHeld(longAgo)).isFalse();
        assertThat(first.isHeld(System.nanoTime() + TimeUnit.SECONDS.toNanos(100)))
                .isTrue();
        firstConnection.usable = false;
        assertThat(first.isHeld(longAgo)).isTrue();
        firstConnection.held = false;
        assertThat(first.isHeld(now)).isFalse();
    }

    private int[] take(int calls) {
        Subchannel[] subchannels = {first, second, third};
        int[] taken = new int[subchannels.length];
        for (int i = 0; i < calls; i++) {
            taken[List.of(subchannels).indexOf(Subchannel.pick(subchannels, List.of()))]++;
        }
        return taken;
    }

    private void assertAlways(Subchannel expected, List<Subchannel> tried) {
        Subchannel[] subchannels = {first, second, third};
        for (int i = 0; i < TIMES; i++) {
            assertThat(Subchannel.pick(subchannels, tried)).isSameAs(expected);
        }
    }

    private static void begin(Subchannel subchannel, int calls) {
        for (int i = 0; i < calls; i++) {
            subchannel.begun();
        }
    }

    private static void fail(Subchannel subchannel, int calls) {
        for (int i = 0; i < calls; i++) {
            subchannel.begun();
            subchannel.ended(Status.Code.UNAVAILABLE);
        }
    }

    /** It has no calls. */
    private static final class NoConnection extends ClientConnection {
        private boolean usable = true;
        private boolean held;

        @Override
        public boolean isUsable() {
            return usable;
        }

        @Override
        public ClientCall begin(
                MethodDescriptor method, long deadline, Metadata headers, Isolation isolation, CallObserver observer) {
            throw new AssertionError("a call");
        }

        @Override
        public Scope newScope(long firstBytes) {
            throw new AssertionError("a scope");
        }

        @Override
        public Scope newSharedScope(long firstBytes) {
            throw new AssertionError("a shared scope");
        }

        @Override
        public void use(ServiceDefinition<?> definition) {
            throw new AssertionError("a use");
        }

        @Override
        public boolean release(Object result) {
            return false;
        }

        @Override
        public boolean maps(Object sharedObject) {
            return false;
        }

        @Override
        public int callsUnderWay() {
            return 0;
        }

        @Override
        public boolean hasHeldObjects() {
            return held;
        }

        @Override
        public ServedInterface service() {
            return new ServedInterface("none", 0, "none");
        }

        @Override
        public void close() {
            usable = false;
        }
    }
}
