package dev.rackcall.cli;

import dev.rackcall.cp.Agent;
import dev.rackcall.cp.AgentOptions;
import dev.rackcall.cp.AgentServer;
import dev.rackcall.cp.ControlAddress;
import dev.rackcall.cp.HostId;
import dev.rackcall.cp.MetaServer;
import dev.rackcall.rpc.runtime.RuntimeDirectory;
import dev.rackcall.sandbox.SealHolder;
import dev.rackcall.verbs.Devices;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** {@code rackcall agent}: the host's part in the control plane as a process of its own, which processes of this user share. */
@Command(
        name = "agent",
        description = "Serves virtual queues to the processes of this user on this host.",
        footer = "Runs until it is ended. Processes that find no agent have one of their own.")
final class AgentCommand implements Callable<Integer> {
    private static final double DAYS = 36_500 * 86_400.0;
    /** Between two looks whether it was told to end. */
    private static final Duration MOMENT = Duration.ofMillis(200);

    @Spec
    private CommandSpec spec;

    @Option(
            names = "--host",
            paramLabel = "NAME",
            required = true,
            description = "What this host is called in the control plane; required.")
    private String host = "";

    @Option(
            names = "--device",
            paramLabel = "DEVICE",
            description = "The RDMA device, for example mlx5_0 or soft:NAME (default: ${DEFAULT-VALUE}).",
            defaultValue = "soft:agent")
    private String device = "";

    @Option(
            names = "--meta",
            paramLabel = "GID/NUMBER",
            description = "The meta server's control address, as it prints it (default: none).")
    private Optional<String> meta = Optional.empty();

    @Option(
            names = "--with-meta",
            paramLabel = "HOSTS",
            description = "Is also the meta server, with room for this many hosts.")
    private Optional<Integer> capacity = Optional.empty();

    @Option(
            names = "--dir",
            paramLabel = "FOLDER",
            description = "The runtime folder of this host, with the sockets of its servers and agents (default:"
                    + " RACKCALL_DIR, or the one of this user).")
    private Optional<Path> folder = Optional.empty();

    @Option(
            names = "--hold-seals",
            paramLabel = "SOCKET",
            description = "Also holds the seals of clients at this socket, as rackcall hold-seals does.")
    private Optional<Path> seals = Optional.empty();

    @Option(
            names = "--for",
            paramLabel = "SECONDS",
            description = "End after so many seconds, for example 90 or 0.5 (default: when it is told to).")
    private Optional<Double> seconds = Optional.empty();

    @Override
    public Integer call() throws InterruptedException {
        validate();
        RuntimeDirectory directory = RuntimeDirectory.at(folder.orElseGet(RuntimeDirectory::defaultPath));
        directory.create();
        if (seals.isEmpty()) {
            return serve(directory.path());
        }
        HoldSealsCommand.requireFree(spec, seals.get());
        SealHolder holder = SealHolder.start(seals.get());
        try {
            say("holding seals at " + seals.get().toAbsolutePath());
            return serve(directory.path());
        } finally {
            holder.close();
        }
    }

    private int serve(Path path) throws InterruptedException {
        if (capacity.isPresent()) {
            try (MetaServer server = MetaServer.open(Devices.find(device), capacity.get())) {
                say("meta server: " + server.address());
                return serve(path, Optional.of(server::address));
            }
        }
        Optional<ControlAddress> address = meta.map(this::address);
        return serve(path, address.map(known -> () -> known));
    }

    private void validate() {
        require(!host.isBlank(), "--host is empty; give the name by which others find this host");
        require(
                seconds.orElse(1.0) > 0 && seconds.orElse(1.0) <= DAYS,
                "--for " + seconds.orElse(0.0)
                        + ": give a number of seconds above 0, or leave it out to serve until told to end");
        require(capacity.orElse(1) > 0, "--with-meta " + capacity.orElse(0) + ": needs room for one host at least");
        require(meta.isEmpty() || capacity.isEmpty(), "give --meta or --with-meta: one meta server is enough");
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
    private int serve(Path path, Optional<Supplier<ControlAddress>> metaServer) throws InterruptedException {
        AgentOptions options = AgentOptions.of(HostId.named(host));
        AgentOptions chosen = metaServer.map(options::withMeta).orElse(options);
        CountDownLatch told = new CountDownLatch(1);
        CountDownLatch ended = new CountDownLatch(1);
        Thread farewell = Thread.ofPlatform().unstarted(() -> {
            told.countDown();
            awaitQuietly(ended);
        });
        Runtime.getRuntime().addShutdownHook(farewell);
        try (Agent agent = Agent.open(Devices.find(device), chosen);
                AgentServer server = AgentServer.open(agent, path)) {
            say("control address: " + agent.address());
            agent.registrationProblem().ifPresent(problem -> say("not registered yet: " + problem));
            say("agent of " + host + " (" + agent.host() + ") serves in " + path);
            long start = System.nanoTime();
            long most = (long) (seconds.orElse(DAYS) * 1e9);
            while (told.getCount() > 0 && System.nanoTime() - start < most) {
                if (server.awaitFailure(MOMENT)) {
                    spec.commandLine()
                            .getErr()
                            .println(
                                    "rackcall: the device of " + agent.host()
                                            + " failed, as the log says; start the agent again, on another device if this one stays broken");
                    return 1;
                }
            }
            if (told.getCount() == 0) {
                int tenants = server.tenants();
                say("ends with " + tenants + (tenants == 1 ? " tenant" : " tenants"));
            }
            return 0;
        } finally {
            ended.countDown();
            removeHook(farewell);
        }
    }

    /** Those who are ended by a signal close everything before the JVM halts. */
    private static void awaitQuietly(CountDownLatch ended) {
        try {
            ended.await(10, TimeUnit.SECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private static void removeHook(Thread farewell) {
        try {
            Runtime.getRuntime().removeShutdownHook(farewell);
        } catch (IllegalStateException isRunning) {
            // It is what ended this.
            return;
        }
    }

    private void say(String line) {
        PrintWriter out = spec.commandLine().getOut();
        out.println(line);
        out.flush();
    }
}
