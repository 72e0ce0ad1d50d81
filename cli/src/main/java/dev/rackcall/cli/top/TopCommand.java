package dev.rackcall.cli.top;

import java.io.Console;
import java.io.IOException;
import java.io.PrintWriter;
import java.util.Optional;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;
import tools.jackson.databind.json.JsonMapper;

/** {@code rackcall top}: shows the connections between processes of this host, and how busy they are. */
@Command(
        name = "top",
        description = "Shows which processes of this host call each other, how often, and how long calls take.",
        footer = {
            "It reads the connections' memory from outside, as often as 20 times a second. The processes need no setting and"
                    + " notice nothing. It shows the processes that you may look at: yours, or as root all.",
            "On a terminal it draws once a second. The key s sorts by the next column (S: by the one before), / filters channels, q"
                    + " quits. It looks for new processes every four seconds, and again at"
                    + " those without connections every 32 seconds. Elsewhere it prints one second."
        },
        sortOptions = false)
public final class TopCommand implements Callable<Integer> {
    @Spec
    private CommandSpec spec;

    @Option(names = "--once", description = "Print one second and end.")
    private boolean once;

    @Option(names = "--json", description = "As --once, as JSON.")
    private boolean json;

    @Option(
            names = "--sort",
            paramLabel = "COLUMN",
            defaultValue = "rate",
            description =
                    "Sort connections by rate, mean, p50, p99, memory, arenas, server or channel (default: ${DEFAULT-VALUE}).")
    private TopOrder order = TopOrder.RATE;

    @Option(names = "--channel", paramLabel = "TEXT", description = "Show only channels whose names contain TEXT.")
    private String channel = "";

    @Override
    public Integer call() throws IOException, InterruptedException {
        PrintWriter out = spec.commandLine().getOut();
        boolean onTerminal = Optional.ofNullable(System.console())
                .filter(Console::isTerminal)
                .isPresent();
        try (TopWatch watch = TopWatch.ofThisHost()) {
            if (once || json || !onTerminal) {
                watch.watch(() -> false);
                print(out, watch.report(channel, order));
            } else {
                draw(watch);
            }
        }
        return 0;
    }

    private void print(PrintWriter out, TopReport report) {
        if (json) {
            out.println(JsonMapper.builder().build().writeValueAsString(report));
        } else {
            TopTable.lines(report, Integer.MAX_VALUE).forEach(out::println);
        }
        out.flush();
    }

    private static boolean isLeft(TopPage page, TopScreen screen) {
        if (page.read(System.in)) {
            screen.show(page.lines(screen.lines()));
        }
        return page.isLeft();
    }

    private void draw(TopWatch watch) throws IOException, InterruptedException {
        try (TopScreen screen = TopScreen.open(spec.commandLine().getOut())) {
            TopPage page = new TopPage(order, channel);
            screen.show(page.lines(screen.lines()));
            while (watch.watch(() -> isLeft(page, screen))) {
                page.update(watch);
                screen.show(page.lines(screen.lines()));
            }
        }
    }
}
