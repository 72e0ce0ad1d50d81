package dev.rackcall.cli.view;

import dev.rackcall.rpc.runtime.RuntimeDirectory;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** {@code rackcall view}: serves a page that shows the connections between processes of this host, live. */
@Command(
        name = "view",
        description =
                "Shows in a browser which processes of this host call each other, how often, and how long calls take.",
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

    @Override
    public Integer call() throws IOException, InterruptedException {
        if (port < 0 || port > MOST) {
            throw new ParameterException(
                    spec.commandLine(), "--port " + port + ": give a number from 0, for any port, to " + MOST);
        }
        ViewServer.limitClients();
        PrintWriter out = spec.commandLine().getOut();
        try (ViewSampler sampler = ViewSampler.ofThisHost(RuntimeDirectory.hostName());
                ViewServer server = ViewServer.start(port, sampler, this::explain)) {
            out.println("Open this address in a browser on this host; Ctrl-C ends.");
            out.println(server.address());
            out.flush();
            // A signal ends this process; nothing outlives it.
            new CountDownLatch(1).await();
        }
        return 0;
    }

    /** What {@code rackcall explain} prints of the channel. */
    private synchronized String explain(String channel) {
        CommandLine explain = spec.root().subcommands().get("explain");
        StringWriter text = new StringWriter();
        PrintWriter writer = new PrintWriter(text);
        explain.setOut(writer).setErr(writer).execute(channel);
        writer.flush();
        return text.toString();
    }
}
