package dev.rackcall.rpc.spi;

import static org.assertj.core.api.Assertions.assertThat;

import dev.rackcall.rpc.CallObserver;
import dev.rackcall.rpc.Metadata;
import dev.rackcall.rpc.Route;
import dev.rackcall.rpc.Status;
import dev.rackcall.testkit.Concurrently;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class EndObserversTest {
    private static final Metadata TRAILERS = Metadata.of("answered-by", "test");

    private final EndObservers observers = new EndObservers();
    private final List<String> told = new ArrayList<>();

    private CallObserver observer(String name) {
        return new CallObserver() {
            @Override
            public void onBegin(Route.Kind transport) {
                told.add(name + " " + transport.name());
            }

            @Override
            public void onEnd(Status status, Metadata trailers) {
                told.add(name + " " + status.code() + " "
                        + trailers.text("answered-by").orElse(""));
            }
        };
    }

    @Test
    void shouldTellObserversInTheirOrderAndEachOnceOfTheEnd() {
        for (int count = 0; count <= 3; count++) {
            EndObservers some = new EndObservers();
            List<String> expected = new ArrayList<>();
            for (int i = 0; i < count; i++) {
                some.add(observer("" + i));
                expected.add(i + " HOST");
            }
            some.add(CallObserver.NONE);
            some.onBegin(Route.Kind.HOST);
            for (int i = 0; i < count; i++) {
                expected.add(i + " OK test");
            }
            some.onEnd(Status.OK, TRAILERS);
            some.onEnd(Status.Code.ABORTED.with("too late"), Metadata.EMPTY);
            some.onBegin(Route.Kind.POOL);
            some.add(observer("late"));
            expected.add("late OK test");
            assertThat(told).isEqualTo(expected);
            told.clear();
        }
    }

    @Test
    void shouldTellTheOthersIfOneThrows() {
        observers.add(observer("first"));
        observers.add(new CallObserver() {
            @Override
            public void onBegin(Route.Kind transport) {
                throw new IllegalStateException("a mistake at the beginning");
            }

            @Override
            public void onEnd(Status status, Metadata trailers) {
                throw new AssertionError("a mistake at the end");
            }
        });
        observers.add(observer("last"));
        observers.onBegin(Route.Kind.TCP);
        observers.onEnd(Status.OK, Metadata.EMPTY);
        assertThat(told).containsExactly("first TCP", "last TCP", "first OK ", "last OK ");
    }

    @Test
    void shouldTellEachObserverOnceThatIsAddedWhileTheCallEnds() {
        int calls = 20_000;
        List<EndObservers> all = Stream.generate(EndObservers::new).limit(calls).toList();
        AtomicIntegerArray ends = new AtomicIntegerArray(2 * calls);
        Concurrently.run(3, thread -> {
            for (int i = 0; i < calls; i++) {
                int place = 2 * i + thread;
                if (thread == 2) {
                    all.get(i).onEnd(Status.OK, Metadata.EMPTY);
                } else {
                    all.get(i).add((_, _) -> ends.incrementAndGet(place));
                }
            }
        });
        for (int i = 0; i < 2 * calls; i++) {
            assertThat(ends.get(i)).as("ends that observer %d was told of", i).isEqualTo(1);
        }
    }
}
