package dev.rackcall.cli;

import dev.rackcall.cli.top.TopWatch;
import dev.rackcall.cli.view.HostNumbers;
import dev.rackcall.cp.ControlAddress;
import dev.rackcall.cp.HostId;
import dev.rackcall.cp.agent.Agent;
import dev.rackcall.cp.agent.AgentOptions;
import dev.rackcall.cp.meta.MetaServer;
import dev.rackcall.cp.server.AgentServer;
import dev.rackcall.rpc.runtime.RuntimeDirectory;
import dev.rackcall.sandbox.SealHolder;
import java.io.PrintWriter;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.function.Supplier;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** {@code rackcall agent}: the host's agent of the control plane, which all processes of this user share. */
@Command(
        name = "agent",
        description = "Serves virtual queues to the processes of this user on this host.",
        footer = {
            "Runs until it is terminated. Processes with this runtime folder call over its virtual queues (vq://). Without an agent,"
                    + " each connection over RDMA has a queue pair of its own (rdma://), unless a process opens an agent itself.",
            "An agent with a directory, and a device that other hosts reach, tells rackcall view of other hosts which processes of"
                    + " this host call each other, how often, and how long calls take."
        })
final class AgentCommand implements Callable<Integer> {
    private static final double DAYS = 36_500 * 86_400.0;
    /** How long an agent waits for a directory to name a meta server, before it starts without one. */
    private static final Duration FIRST_NEWS = Duration.ofSeconds(2);
    /** The interval between checks for the end of the process. */
    private static final Duration MOMENT = Duration.ofMillis(200);

    @Spec
    private CommandSpec spec;

    @Option(
            names = "--host",
            paramLabel = "NAME",
            required = true,
            description = "The name of this host in the control plane; required.")
    private String host = "";

    @Mixin
    private AgentDevice device = new AgentDevice();

    @Option(
            names = "--directory",
            paramLabel = "URI",
            defaultValue = "${env:RACKCALL_DIRECTORY}",
            description =
                    "Where the meta server is named, and found again after it has restarted: zk://host:2181,host:2181,"
                            + " or file:///a/folder for agents of one host (default: RACKCALL_DIRECTORY). If it does"
                            + " not answer the agent serves without and asks again.")
    private Optional<URI> directory = Optional.empty();

    @Option(
            names = "--meta",
            paramLabel = "GID/NUMBER",
            description =
                    "The meta server's control address, as it prints it, instead of a directory. It changes when the"
                            + " meta server restarts; then restart this agent, too.")
    private Optional<String> meta = Optional.empty();

    @Option(
            names = "--with-meta",
            paramLabel = "HOSTS",
            description =
                    "Also run the meta server, with room for this many hosts. The directory names it unless it names"
                            + " another one.")
    private Optional<Integer> capacity = Optional.empty();

    @Mixin
    private RuntimeFolderOption folder = new RuntimeFolderOption();

    @Option(
            names = "--hold-seals",
            paramLabel = "SOCKET",
            description = "Also holds the seals of clients at this socket, as rackcall hold-seals does.")
    private Optional<Path> seals = Optional.empty();

    @Option(
            names = "--report",
            paramLabel = "SECONDS",
            description = "Report this often: tenants, queue pairs, hosts, and the memory for what is known of"
                    + " hosts (default: in the end only).")
    private Optional<Double> report = Optional.empty();

    @Option(
            names = "--for",
            paramLabel = "SECONDS",
            description = "End after this many seconds, for example 90 or 0.5 (default: run until it is terminated).")
    private Optional<Double> seconds = Optional.empty();

    @Override
    public Integer call() throws InterruptedException {
        validate();
        RuntimeDirectory runtime = RuntimeDirectory.at(folder.path());
        runtime.create();
        // The outermost resource: a meta server's name must also be withdrawn before the JVM halts.
        try (OrderlyShutdown shutdown = OrderlyShutdown.open()) {
            return holdSeals(runtime.path(), shutdown);
        }
    }

    private int holdSeals(Path path, OrderlyShutdown shutdown) throws InterruptedException {
        if (seals.isEmpty()) {
            return serve(path, shutdown);
        }
        HoldSealsCommand.requireFree(spec, seals.get());
        SealHolder holder = SealHolder.start(seals.get());
        try {
            say("holding seals at " + seals.get().toAbsolutePath());
            return serve(path, shutdown);
        } finally {
            holder.close();
        }
    }

    private int serve(Path path, OrderlyShutdown shutdown) throws InterruptedException {
        if (capacity.isEmpty()) {
            return serve(path, shutdown, Optional.empty());
        }
        try (MetaServer server = MetaServer.open(device.find(), capacity.get())) {
            say("meta server: " + server.address());
            return serve(path, shutdown, Optional.of(server));
        }
    }

    private int serve(Path path, OrderlyShutdown shutdown, Optional<MetaServer> server) throws InterruptedException {
        Optional<ControlAddress> own = server.map(MetaServer::address);
        if (meta.isPresent() || directory.isEmpty()) {
            Optional<ControlAddress> only = own.or(() -> meta.map(this::address));
            return serve(path, shutdown, server, Optional.empty(), only.map(known -> () -> known));
        }
        try (MetaNames names = MetaNames.open(directory.get(), own, host)) {
            if (own.isEmpty()) {
                names.await(FIRST_NEWS);
            }
            return serve(path, shutdown, server, Optional.of(names), Optional.of(names));
        }
    }

    private void validate() {
        require(!host.isBlank(), "--host is empty; give the name by which others find this host");
        require(
                seconds.orElse(1.0) > 0 && seconds.orElse(1.0) <= DAYS,
                "--for " + seconds.orElse(0.0)
                        + ": give a number of seconds above 0, or leave it out to serve until the process is terminated");
        require(
                report.orElse(1.0) > 0 && report.orElse(1.0) <= DAYS,
                "--report " + report.orElse(0.0) + ": give a number of seconds above 0, or leave it out");
        device.validate();
        require(capacity.orElse(1) > 0, "--with-meta " + capacity.orElse(0) + ": needs room for one host at least");
        require(meta.isEmpty() || capacity.isEmpty(), "give --meta or --with-meta: one meta server is enough");
        // --meta may override RACKCALL_DIRECTORY.
        require(
                meta.isEmpty() || !spec.commandLine().getParseResult().hasMatchedOption("--directory"),
                "give --meta or --directory: a directory says itself where the meta server is");
        directory.ifPresent(named -> require(
                capacity.isEmpty() || "file".equals(named.getScheme()) || !device.isForThisHostByDefault(),
                "--with-meta: this software device listens at 127.0.0.1, and the directory " + named
                        + " would tell that to agents on other hosts; give --listen ADDRESS (--listen 127.0.0.1 if all"
                        + " agents are on this host), or --directory file:///a/folder"));
        meta.ifPresent(this::address);
    }

    private ControlAddress address(String text) {
        try {
            return ControlAddress.parse(text);
        } catch (IllegalArgumentException e) {
            throw new ParameterException(spec.commandLine(), "--meta: " + e.getMessage(), e);
        }
    }

    private void require(boolean condition, String otherwise) {
        if (!condition) {
            throw new ParameterException(spec.commandLine(), otherwise);
        }
    }

    /** Returns the exit code. */
    private int serve(
            Path path,
            OrderlyShutdown shutdown,
            Optional<MetaServer> ownMeta,
            Optional<MetaNames> names,
            Optional<Supplier<ControlAddress>> metaServer)
            throws InterruptedException {
        AgentOptions options = AgentOptions.of(HostId.named(host));
        AgentOptions chosen = metaServer.map(options::withMeta).orElse(options);
        try (Agent agent = Agent.open(device.find(), chosen);
                AgentServer server = AgentServer.open(agent, path)) {
            say("control address: " + agent.address());
            device.warning().ifPresent(this::say);
            AgentReport watch = new AgentReport(
                    agent,
                    server,
                    ownMeta,
                    () -> names.flatMap(MetaNames::problem),
                    report.map(AgentCommand::nanos).orElse(Long.MAX_VALUE),
                    this::say);
            say("agent of " + host + " (" + agent.host() + ") serves in " + path);
            if (directory.isEmpty() || device.isForThisHostByDefault()) {
                return attend(agent, server, watch, shutdown);
            }
            try (HostNumbers _ = HostNumbers.serve(
                    agent.admit("view"), host, directory.get(), path, TopWatch::ofThisHost, this::say)) {
                return attend(agent, server, watch, shutdown);
            }
        }
    }

    private int attend(Agent agent, AgentServer server, AgentReport watch, OrderlyShutdown shutdown)
            throws InterruptedException {
        long start = System.nanoTime();
        long most = nanos(seconds.orElse(DAYS));
        while (!shutdown.isRequested() && System.nanoTime() - start < most) {
            if (server.awaitFailure(MOMENT)) {
                spec.commandLine()
                        .getErr()
                        .println(
                                "rackcall: the device of " + agent.host()
                                        + " failed, as the log says; start the agent again, on another device if this one stays broken");
                return 1;
            }
            watch.look();
        }
        say("ends with " + watch.all());
        return 0;
    }

    private static long nanos(double time) {
        return (long) (time * 1e9);
    }

    private synchronized void say(String line) {
        PrintWriter out = spec.commandLine().getOut();
        out.println(line);
        out.flush();
    }
}
