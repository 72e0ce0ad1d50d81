package dev.rackcall.perf;

import java.nio.file.Path;
import java.util.Optional;
import java.util.function.Supplier;

/** Something that one process does by itself, measured beside calls to tell what they are made of. */
final class LocalSubject extends Subject {
    /** Sets up what is measured; runs in the measured process. */
    @FunctionalInterface
    interface Setup {
        ClientSide prepare();
    }

    private final String group;
    private final String floor;
    private final String settings;
    private final Setup setup;
    private final int repetitions;

    private final Supplier<Optional<String>> missing;

    LocalSubject(String name, String group, String floor, int bytes, int repetitions, String settings, Setup setup) {
        this(name, group, floor, bytes, repetitions, settings, setup, Optional::empty);
    }

    private LocalSubject(
            String name,
            String group,
            String floor,
            int bytes,
            int repetitions,
            String settings,
            Setup setup,
            Supplier<Optional<String>> missing) {
        super(name, bytes);
        this.repetitions = repetitions;
        this.group = group;
        this.floor = floor;
        this.settings = settings;
        this.setup = setup;
        this.missing = missing;
    }

    /** The same, for hosts that lack nothing for it. */
    LocalSubject unless(Supplier<Optional<String>> lacking) {
        return new LocalSubject(name(), group, floor, bytes(), repetitions, settings, setup, lacking);
    }

    @Override
    Optional<String> missing() {
        return missing.get();
    }

    @Override
    Target target() {
        return Target.ISOLATION;
    }

    @Override
    String group() {
        return group;
    }

    @Override
    int repetitions() {
        return repetitions;
    }

    @Override
    String floor() {
        return floor;
    }

    @Override
    String settings() {
        return settings;
    }

    @Override
    boolean crossProcess() {
        return false;
    }

    @Override
    boolean spins() {
        return true;
    }

    @Override
    ServerSide serve(Path directory) {
        return () -> {};
    }

    @Override
    ClientSide connect(Path directory) {
        return setup.prepare();
    }
}
