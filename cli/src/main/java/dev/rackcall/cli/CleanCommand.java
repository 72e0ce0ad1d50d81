package dev.rackcall.cli;

import dev.rackcall.rpc.runtime.RuntimeDirectory;
import java.io.PrintWriter;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** {@code rackcall clean}: removes the files of dead servers in the runtime folder. Files of living servers stay. */
@Command(
        name = "clean",
        description = "Removes the sockets and lock files of dead servers.",
        footer = "Safe at any time: a living server holds a lock that the kernel releases only when it dies.")
final class CleanCommand implements Callable<Integer> {
    @Spec
    private CommandSpec spec;

    @Mixin
    private RuntimeFolderOption folder = new RuntimeFolderOption();

    @Override
    public Integer call() {
        PrintWriter out = spec.commandLine().getOut();
        RuntimeDirectory directory = RuntimeDirectory.at(folder.path());
        List<String> removed = directory.cleanAll();
        removed.forEach(channel -> out.println("removed  " + channel));
        List<String> living = directory.channels();
        living.forEach(channel -> out.println("served   " + channel));
        out.printf(
                "%s: %s removed, %s.%n",
                directory.path(),
                removed.isEmpty() ? "nothing" : count(removed.size(), "dead channel"),
                living.isEmpty() ? "no server runs here" : count(living.size(), "channel") + " served");
        out.flush();
        return 0;
    }

    private static String count(int number, String what) {
        return number + " " + what + (number == 1 ? "" : "s");
    }
}
