package dev.rackcall.rpc.channel;

import dev.rackcall.rpc.RpcChannel.State;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Reports changes of a channel's state, one after the other, on a virtual thread. Thread-safe. */
final class StateChanges {
    private static final Logger LOG = LoggerFactory.getLogger(StateChanges.class);

    private final Supplier<State> state;
    private final List<Consumer<State>> listeners = new CopyOnWriteArrayList<>();
    /** Changes that were not reported yet. Guarded by this object, as the following fields are. */
    private final Queue<State> pending = new ArrayDeque<>();

    private State last = State.IDLE;
    private boolean reporting;

    /** @param state the state now; must not block */
    StateChanges(Supplier<State> state) {
        this.state = state;
    }

    void listen(Consumer<State> listener) {
        listeners.add(listener);
    }

    /** Called when the state may have changed. Does not run listeners itself, because callers must not block. */
    synchronized void update() {
        State now = state.get();
        if (now == last) {
            return;
        }
        last = now;
        if (listeners.isEmpty()) {
            return;
        }
        pending.add(now);
        if (!reporting) {
            reporting = true;
            Thread.ofVirtual().name("rackcall-state").start(this::report);
        }
    }

    private void report() {
        while (true) {
            State next;
            synchronized (this) {
                next = pending.poll();
                if (next == null) {
                    reporting = false;
                    return;
                }
            }
            for (Consumer<State> listener : listeners) {
                try {
                    listener.accept(next);
                } catch (RuntimeException | Error e) {
                    LOG.warn("a listener of a channel's state threw {} when it heard {}", e, next, e);
                }
            }
        }
    }
}
