package dev.rackcall.verbs.real;

import java.util.concurrent.atomic.AtomicBoolean;

/** An object of the library in an open device. Closing fails while it is in use, and can then be repeated. */
abstract class NativeObject implements AutoCloseable {
    private final NativeContext device;
    private final long pointer;
    /** Names it in messages. */
    private final String description;

    private final AtomicBoolean closed = new AtomicBoolean();

    NativeObject(NativeContext device, long pointer, String description) {
        this.device = device;
        this.pointer = pointer;
        this.description = description;
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

    @Override
    public final void close() {
        if (closed.compareAndSet(false, true)) {
            try {
                Verb.zero(destroy(), "closing " + description);
            } catch (RuntimeException stillOpen) {
                closed.set(false);
                throw stillOpen;
            }
            device.closed();
        }
    }
}
