package dev.rackcall.verbs.real;

import java.util.concurrent.atomic.AtomicBoolean;

/** An object of the library in an open device. Closing fails while it is in use, and can then be repeated. */
abstract class NativeObject implements AutoCloseable {
    private final NativeContext device;
    private final long pointer;
    private final AtomicBoolean closed = new AtomicBoolean();

    NativeObject(NativeContext device, long pointer) {
        this.device = device;
        this.pointer = pointer;
        device.opened();
    }

    final NativeContext device() {
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
