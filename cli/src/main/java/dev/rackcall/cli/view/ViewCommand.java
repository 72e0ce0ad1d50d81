package dev.rackcall.cli.view;

import dev.rackcall.rpc.runtime.RuntimeDirectory;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.URI;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** {@code rackcall view}: serves a page that shows the connections between processes of a host or a rack, live. */
@Command(
        name = "view",
        description =
                "Shows in a browser which processes call each other, how often, and how long calls take: on this host, and with a"
                        + " directory on all hosts whose agents listen.",
        footer = {
            "It serves a page on the loopback, to browsers that have the printed address, and ends with Ctrl-C. While a page is"
                    + " open, it reads the connections' memory from outside, as rackcall top does; the processes notice"
                    + " nothing. It shows the processes that you may look at: yours, or as root all.",
            "For a host without a browser, forward the port: ssh -L PORT:127.0.0.1:PORT HOST"
        },
        sortOptions = false)
public final class ViewCommand implements Callable<Integer> {
    private static final int MOST = 65_535;

    @Spec
    private CommandSpec spec;

    @Option(names = "--port", paramLabel = "PORT", description = "The port (default: any that is free).")
    private int port;

    @Option(
            names = "--directory",
            paramLabel = "URI",
            defaultValue = "${env:RACKCALL_DIRECTORY}",
            description = "Also show the hosts and servers that a directory names: file:///a/folder, or"
                    + " zk://host:2181,host:2181 (default: RACKCALL_DIRECTORY, or none). Numbers of other hosts come from"
                    + " their agents, rackcall agent, by way of this host's.")
    private Optional<URI> directory = Optional.empty();

    @Option(
            names = "--host",
            paramLabel = "NAME",
            description = "The name of this host (default: RACKCALL_HOST, or what the kernel says).")
    private Optional<String> host = Optional.empty();

    @Override
    public Integer call() throws IOException, InterruptedException {
        if (port < 0 || port > MOST) {
            throw new ParameterException(
                    spec.commandLine(), "--port " + port + ": give a number from 0, for any port, to " + MOST);
        }
        ViewServer.limitClients();
        String here = host.orElseGet(RuntimeDirectory::hostName);
        if (directory.isEmpty()) {
            serve(here, Optional::empty);
        } else {
            RackHosts hosts = new RackHosts(
                    agent -> AgentWatch.follow(agent, explainOptions(Optional.of(agent.host()))), ViewHistory.GONE);
            try (RackWatch rack = RackWatch.start(directory.get(), here, hosts)) {
                serve(here, rack);
            }
        }
        return 0;
    }

    private void serve(String here, RackView rack) throws IOException, InterruptedException {
        PrintWriter out = spec.commandLine().getOut();
        try (ViewSampler sampler =
                        ViewSampler.ofThisHost(new ViewHistory(here, explainOptions(host), RuntimeFolders::of));
                ViewServer server = ViewServer.start(port, sampler, rack, this::explain)) {
            out.println("Open this address in a browser on this host; Ctrl-C ends.");
            out.println(server.address());
            out.flush();
            // A signal ends this process; nothing outlives it.
            new CountDownLatch(1).await();
        }
    }

    private String explainOptions(Optional<String> name) {
        StringBuilder options = new StringBuilder();
        directory.ifPresent(address -> options.append(" --directory ").append(quoted(address.toString())));
        name.ifPresent(each -> options.append(" --host ").append(quoted(each)));
        return options.toString();
    }

    /** For a shell. */
    static String quoted(String word) {
        return word.matches("[A-Za-z0-9:/.,_-]+") ? word : "'" + word.replace("'", "'\\''") + "'";
    }

    /** What {@code rackcall explain} prints of the connection's channel. */
    private synchronized String explain(ViewState.ConnectionEdge edge) {
        CommandLine explain = spec.root().subcommands().get("explain");
        StringWriter text = new StringWriter();
        PrintWriter writer = new PrintWriter(text);
        List<String> arguments = new ArrayList<>(List.of(edge.row().channel()));
        edge.folder().ifPresent(path -> arguments.addAll(List.of("--dir", path)));
        directory.ifPresent(address -> arguments.addAll(List.of("--directory", address.toString())));
        host.ifPresent(name -> arguments.addAll(List.of("--host", name)));
        explain.setOut(writer).setErr(writer).execute(arguments.toArray(String[]::new));
        writer.flush();
        return text.toString();
    }
}
