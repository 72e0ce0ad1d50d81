package dev.rackcall.verbs.soft;

import dev.rackcall.verbs.Context;
import dev.rackcall.verbs.Device;

/** A software device that listens as long as it is open. */
public final class SoftDevice implements Device {
    /** Names of software devices begin so. */
    public static final String PREFIX = "soft:";

    private final String name;
    private final SoftOptions options;

    private SoftDevice(String name, SoftOptions options) {
        this.name = name;
        this.options = options;
    }

    /** A device of this name, without the prefix. */
    public static SoftDevice of(String name, SoftOptions options) {
        return new SoftDevice(PREFIX + name, options);
    }

    @Override
    public String name() {
        return name;
    }

    @Override
    public Context open() {
        return SoftContext.open(this, options);
    }

    @Override
    public String toString() {
        return name;
    }
}
