package dev.rackcall.cli;

import dev.rackcall.rpc.RpcChannel;
import dev.rackcall.rpc.RpcServer;
import dev.rackcall.samples.quickstart.Door;
import dev.rackcall.shm.Scope;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.Writer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import picocli.CommandLine;
import picocli.CommandLine.Command;

/**
 * Loads the classes that other commands need at their start, and those of a first call at both ends. The launcher runs
 * it once after a build, with {@code -XX:AOTCacheOutput}, so that the JVM caches these classes (JEP 483, JEP 514).
 */
@Command(name = "train", hidden = true, description = "Loads classes for the start-up cache.")
final class TrainCommand implements Callable<Integer> {
    private static final int CALLS = 100;

    @Override
    public Integer call() throws IOException {
        CommandLine command = RackcallCommand.commandLine();
        PrintWriter nowhere = new PrintWriter(Writer.nullWriter());
        command.setOut(nowhere).setErr(nowhere);
        command.execute("--help");
        command.execute("doctor");
        Path directory = Files.createTempDirectory("rackcall-train");
        try {
            callOneself(directory);
        } finally {
            Files.deleteIfExists(directory);
        }
        return CommandLine.ExitCode.OK;
    }

    private static void callOneself(Path directory) {
        try (RpcServer server = RpcServer.builder()
                        .runtimeFolder(directory)
                        .service(Door.class, Door.Guest::name)
                        .start();
                RpcChannel channel = RpcChannel.builder(server.channels().getFirst())
                        .runtimeFolder(directory)
                        .open();
                Scope scope = channel.newScope()) {
            Door door = channel.stub(Door.class);
            Door.Guest guest = scope.create(Door.Guest.class).name("Ada");
            for (int i = 0; i < CALLS; i++) {
                door.greet(guest);
            }
        }
    }
}
