package dev.rackcall.verbs.real;

import java.util.concurrent.atomic.AtomicBoolean;

/** An object that the library made in an open device. It is closed once; if it is still in use, closing fails and can be repeated. */
abstract class NativeObject implements AutoCloseable {
    private final OpenDevice device;
    private final long pointer;
    private final AtomicBoolean closed = new AtomicBoolean();

    NativeObject(OpenDevice device, long pointer) {
        this.device = device;
        this.pointer = pointer;
        device.opened();
    }

    final OpenDevice device() {
        return device;
    }

    /** Address of its struct. */
    final long pointer() {
        return pointer;
    }

    /** Calls the verb that destroys it. */
    abstract int destroy();

    /** Names it in messages. */
    abstract String describe();

    @Override
    public final void close() {
        if (closed.compareAndSet(false, true)) {
            try {
                Verb.zero(destroy(), "closing " + describe());
            } catch (RuntimeException stillOpen) {
                closed.set(false);
                throw stillOpen;
            }
            device.closed();
        }
    }
}
