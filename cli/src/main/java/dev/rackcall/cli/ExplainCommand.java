package dev.rackcall.cli;

import dev.rackcall.cp.ControlPlaneException;
import dev.rackcall.cp.Tenant;
import dev.rackcall.cp.client.AgentFolder;
import dev.rackcall.rdma.queue.QueueSettings;
import dev.rackcall.rpc.Route;
import dev.rackcall.rpc.RpcChannel;
import dev.rackcall.rpc.RpcException;
import dev.rackcall.rpc.Status;
import dev.rackcall.rpc.runtime.RuntimeDirectory;
import java.io.PrintWriter;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/**
 * {@code rackcall explain}: opens a channel as any client does, and prints the route that calls use, and why each other
 * route is not used.
 */
@Command(
        name = "explain",
        description = "Shows which route calls to a channel take from this host, and why the others are not used.",
        footer = {
            "It connects to the channel's servers and calls nothing. Virtual queues (vq://) are those of this host's agent"
                    + " process, rackcall agent, if one runs; a program with an agent of its own may have others.",
            "Exit code 1 if no server can be reached; the message then names the problem of each route."
        },
        sortOptions = false)
final class ExplainCommand implements Callable<Integer> {
    private static final double MOST_SECONDS = 3600;

    @Spec
    private CommandSpec spec;

    @Parameters(paramLabel = "CHANNEL", description = "For example /shop/cart.")
    private String channel = "";

    @Option(
            names = "--directory",
            paramLabel = "URI",
            defaultValue = "${env:RACKCALL_DIRECTORY}",
            description = "Where servers are named: file:///a/folder, or zk://host:2181,host:2181 (default:"
                    + " RACKCALL_DIRECTORY; without any, only this host is looked at).")
    private Optional<URI> directory = Optional.empty();

    @Mixin
    private RuntimeFolderOption folder = new RuntimeFolderOption();

    @Option(
            names = "--host",
            paramLabel = "NAME",
            description = "The name of this host (default: RACKCALL_HOST, or what the kernel says).")
    private Optional<String> host = Optional.empty();

    @Option(
            names = "--timeout",
            paramLabel = "SECONDS",
            defaultValue = "5",
            description = "How long to try to reach the servers, in all routes together (default: ${DEFAULT-VALUE}).")
    private double timeout;

    @Override
    public Integer call() {
        if (!(timeout > 0 && timeout <= MOST_SECONDS)) {
            throw new ParameterException(
                    spec.commandLine(),
                    "--timeout " + timeout + ": give a number of seconds above 0, at most " + (long) MOST_SECONDS);
        }
        PrintWriter out = spec.commandLine().getOut();
        Path runtime = folder.path();
        String here = host.orElseGet(RuntimeDirectory::hostName);
        Optional<Tenant> tenant = join(runtime);
        try {
            explain(out, runtime, here);
        } finally {
            tenant.ifPresent(each -> {
                QueueSettings.forget(each);
                each.close();
            });
        }
        out.flush();
        return 0;
    }

    /** Joins the host's agent process, if it runs, to use its virtual queues as programs here may. */
    private Optional<Tenant> join(Path runtime) {
        if (directory.isEmpty() || !AgentFolder.isServed(runtime)) {
            return Optional.empty();
        }
        try {
            Tenant tenant = AgentFolder.join(runtime, "explain");
            QueueSettings.use(tenant);
            return Optional.of(tenant);
        } catch (ControlPlaneException e) {
            spec.commandLine().getErr().println("Without virtual queues: " + e.getMessage());
            return Optional.empty();
        }
    }

    private void explain(PrintWriter out, Path runtime, String here) {
        try (RpcChannel opened = open(runtime, here)) {
            if (directory.isEmpty()) {
                out.printf("%s from %s: by the memory of this host.%n", channel, here);
                out.printf("Its server is in %s. Name a --directory to look at other hosts, too.%n", runtime);
            } else {
                out.printf("%s from %s, by %s%n", channel, here, directory.get());
                print(out, opened.routes());
            }
        }
    }

    /** A wrong argument is reported as such. */
    private RpcChannel open(Path runtime, String here) {
        try {
            RpcChannel.Builder builder = RpcChannel.builder(channel)
                    .runtimeFolder(runtime)
                    .host(here)
                    .connectTimeout(Duration.ofNanos((long) (timeout * 1e9)));
            directory.ifPresent(builder::directory);
            return builder.open();
        } catch (IllegalArgumentException e) {
            throw new ParameterException(spec.commandLine(), e.getMessage(), e);
        } catch (RpcException e) {
            if (e.code() == Status.Code.INVALID_ARGUMENT) {
                throw new ParameterException(spec.commandLine(), e.status().description(), e);
            }
            throw e;
        }
    }

    private static void print(PrintWriter out, List<Route> routes) {
        String last = "";
        for (Route route : routes) {
            if (!route.endpoint().equals(last)) {
                last = route.endpoint();
                out.printf("%n%s on %s%n", route.endpoint(), route.host());
            }
            String place = route.address().isEmpty() ? "" : " (" + route.address() + ")";
            out.printf("  %-24s  %-10s  %s%s%n", route.kind(), word(route.state()), route.reason(), place);
        }
    }

    private static String word(Route.State state) {
        return switch (state) {
            case USED -> "used";
            case EJECTED -> "ejected";
            case LEAVING -> "left";
            case TRYING -> "trying";
            case NOT_NEEDED -> "not needed";
            case FAILED -> "failed";
            case IMPOSSIBLE -> "no";
        };
    }
}
