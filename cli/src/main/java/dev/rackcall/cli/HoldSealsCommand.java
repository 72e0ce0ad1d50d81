package dev.rackcall.cli;

import dev.rackcall.sandbox.SealHolder;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code rackcall hold-seals}: the process that clients and servers trust with the seals of clients. */
@Command(
        name = "hold-seals",
        description = "Holds the seals of clients, which then cannot lift them, until it is ended.",
        footer =
                "Servers name its socket in SandboxPolicy.withEnforcedSeals, clients in RpcChannel.Builder.enforcedSeals. When it ends, nothing is"
                        + " sealed any more, and calls under way whose arguments it had sealed fail.")
final class HoldSealsCommand implements Callable<Integer> {
    @Spec
    private CommandSpec spec;

    @Parameters(paramLabel = "SOCKET", description = "Where to serve; nothing may be there yet.")
    private Path socket;

    @Override
    public Integer call() throws InterruptedException {
        PrintWriter out = spec.commandLine().getOut();
        try (SealHolder holder = SealHolder.start(socket)) {
            // A process that is told to end runs no finally.
            Runtime.getRuntime().addShutdownHook(new Thread(holder::close, "rackcall-exit"));
            out.println("holding seals at " + socket.toAbsolutePath());
            out.flush();
            holder.awaitClosed();
        }
        return 0;
    }
}
