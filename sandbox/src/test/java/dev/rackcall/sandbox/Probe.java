package dev.rackcall.sandbox;

import dev.rackcall.testkit.ChildJvm;
import java.nio.file.Path;

/** Children for what may end a JVM. They get both compilers, because what compiled code does at a fault is what they are for. */
public final class Probe {
    private Probe() {}

    /** {@code folder} is its working directory, where a crash leaves its report. */
    public static ChildJvm.Launch of(Path folder, Class<?> main, Object... arguments) {
        return ChildJvm.of(main, arguments)
                .optimised()
                .flags("-XX:+UseSerialGC", "-Xmx64m", "-XX:-CreateCoredumpOnCrash")
                .in(folder);
    }
}
