package dev.rackcall.rack.guest;

import dev.rackcall.perf.BenchCommand;
import picocli.CommandLine;

/** {@code rackcall bench} in a guest, where there is no {@code rackcall}. */
public final class BenchMain {
    private BenchMain() {}

    public static void main(String[] args) {
        System.exit(new CommandLine(new BenchCommand()).execute(args));
    }
}
