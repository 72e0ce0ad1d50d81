package dev.rackcall.cli;

import dev.rackcall.sandbox.SealHolder;
import dev.rackcall.shm.os.OsException;
import dev.rackcall.shm.os.socket.UnixSocket;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code rackcall hold-seals}: the process that clients and servers trust with the seals of clients. */
@Command(
        name = "hold-seals",
        description = "Holds the seals of clients, which then cannot lift them, until it is ended.",
        footer =
                "Servers name its socket in SandboxPolicy.withEnforcedSeals, clients in RpcChannel.Builder.enforcedSeals. When it ends, nothing is"
                        + " sealed any more, and calls in flight with arguments that it had sealed fail.")
final class HoldSealsCommand implements Callable<Integer> {
    @Spec
    private CommandSpec spec;

    @Parameters(paramLabel = "SOCKET", description = "Where to serve; nothing may be there yet.")
    private Path socket;

    @Override
    public Integer call() throws InterruptedException {
        requireFree(spec, socket);
        PrintWriter out = spec.commandLine().getOut();
        try (SealHolder holder = SealHolder.start(socket)) {
            // A process that is terminated runs no finally.
            Runtime.getRuntime().addShutdownHook(new Thread(holder::close, "rackcall-exit"));
            out.println("holding seals at " + socket.toAbsolutePath());
            out.flush();
            holder.awaitClosed();
        }
        return 0;
    }

    /** A message that says more than the kernel's "address in use". */
    static void requireFree(CommandSpec spec, Path socket) {
        Path folder = socket.toAbsolutePath().getParent();
        if (folder == null || !Files.isDirectory(folder)) {
            throw new ParameterException(
                    spec.commandLine(),
                    "cannot serve at " + socket + ": there is no folder " + folder + "; make it first");
        }
        if (Files.exists(socket, LinkOption.NOFOLLOW_LINKS)) {
            throw new ParameterException(
                    spec.commandLine(),
                    "cannot serve at " + socket + ": " + what(socket)
                            + "; name a path where nothing is, in a folder that only this user may enter");
        }
    }

    private static String what(Path socket) {
        if (Files.isDirectory(socket)) {
            return "that is a folder";
        }
        try (UnixSocket living = UnixSocket.connect(socket)) {
            return "another process serves there already, pid " + living.peer().pid();
        } catch (OsException e) {
            return "a file is there; if it is the socket of a holder that has ended, remove it";
        }
    }
}
