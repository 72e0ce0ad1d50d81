package dev.rackcall.perf.crowd;

import dev.rackcall.perf.harness.ClientSide;
import dev.rackcall.perf.harness.ServerSide;
import dev.rackcall.perf.harness.Sides;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.locks.LockSupport;

/**
 * A process that computes while it is resumed; it starts paused. It has no client side.
 *
 * @param turn the time for which it alternately computes and sleeps; zero to compute all the time
 */
record Burner(Duration turn) implements Sides {
    @Override
    public ServerSide serve(Path directory) {
        Burning burning = new Burning(turn.toNanos());
        Thread.ofPlatform().daemon().name("burner").start(burning);
        return burning;
    }

    @Override
    public ClientSide connect(Path directory) {
        throw new UnsupportedOperationException("nothing connects to a burner");
    }

    private static final class Burning implements ServerSide, Runnable {
        private final long turnNanos;
        private volatile Thread thread;
        private volatile boolean burns;

        Burning(long turnNanos) {
            this.turnNanos = turnNanos;
        }

        @Override
        public void run() {
            thread = Thread.currentThread();
            while (true) {
                if (burns) {
                    for (long start = System.nanoTime(); burns && System.nanoTime() - start < turnNanos; ) {
                        Thread.onSpinWait();
                    }
                    if (turnNanos > 0) {
                        LockSupport.parkNanos(turnNanos);
                    }
                } else {
                    LockSupport.park(this);
                }
            }
        }

        @Override
        public void pause() {
            burns = false;
        }

        @Override
        public void resume() {
            burns = true;
            LockSupport.unpark(thread);
        }

        @Override
        public void close() {
            pause();
        }
    }
}
