package dev.rackcall.verbs.soft;

import dev.rackcall.verbs.Device;
import dev.rackcall.verbs.VerbsProvider;
import java.util.List;
import java.util.Optional;

/** Provides the software device. */
public final class SoftProvider implements VerbsProvider {
    /** For the service loader. */
    public SoftProvider() {}

    @Override
    public List<Device> devices() {
        return List.of(SoftDevice.of("local", SoftOptions.local()));
    }

    @Override
    public Optional<Device> find(String name) {
        return name.startsWith(SoftDevice.PREFIX)
                ? Optional.of(SoftDevice.of(name.substring(SoftDevice.PREFIX.length()), SoftOptions.local()))
                : Optional.empty();
    }

    @Override
    public String diagnosis() {
        return "The software device is available (soft:NAME, over TCP).";
    }
}
