package dev.rackcall.cli;

import java.io.PrintWriter;
import java.io.Writer;
import picocli.CommandLine;
import picocli.CommandLine.Command;

/**
 * Loads what the other commands need at their start. The launcher runs it once after a build, with {@code -XX:AOTCacheOutput}, so that
 * the JVM keeps those classes ready (JEP 483, JEP 514).
 */
@Command(name = "train", hidden = true, description = "Loads classes for the start-up cache.")
final class TrainCommand implements Runnable {
    @Override
    public void run() {
        CommandLine command = RackcallCommand.commandLine();
        PrintWriter nowhere = new PrintWriter(Writer.nullWriter());
        command.setOut(nowhere).setErr(nowhere);
        command.execute("--help");
        command.execute("doctor");
    }
}
