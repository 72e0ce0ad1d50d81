package dev.rackcall.cli;

import dev.rackcall.rpc.schema.Compatibility;
import dev.rackcall.rpc.schema.Compatibility.Difference;
import dev.rackcall.rpc.schema.Compatibility.Sides;
import dev.rackcall.rpc.spi.ServedInterface;
import java.io.IOException;
import java.io.PrintWriter;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code rackcall compat}: compares the services of two jars, for continuous integration. */
@Command(
        name = "compat",
        description = "Compares the services of two versions: can clients and servers of both call each other?",
        footer = {
            "OLD and NEW are jars or folders of classes; more of them, separated by ':', if the services need classes of other"
                    + " jars. The generated classes (..._Rpc) of both are loaded.",
            "Exit code 0 if all services of OLD can be upgraded while clients call them, else 1. docs/evolution.md has the"
                    + " rules."
        },
        sortOptions = false)
final class CompatCommand implements Callable<Integer> {
    private static final Sides SIDES = new Sides("in the new version", "in the old version");

    @Spec
    private CommandSpec spec;

    @Parameters(index = "0", paramLabel = "OLD", description = "The version that runs now.")
    private String older = "";

    @Parameters(index = "1", paramLabel = "NEW", description = "The version that is to replace it.")
    private String newer = "";

    @Override
    public Integer call() {
        Map<String, ServedInterface> before = read("OLD", older);
        Map<String, ServedInterface> after = read("NEW", newer);
        PrintWriter out = spec.commandLine().getOut();
        boolean holds = true;
        for (Map.Entry<String, ServedInterface> service : before.entrySet()) {
            holds &= compare(out, service.getKey(), service.getValue(), after.get(service.getKey()));
        }
        after.forEach((channel, service) -> {
            if (!before.containsKey(channel)) {
                out.println(channel + " (" + service.name() + "): new");
            }
        });
        out.println(
                holds
                        ? "Clients and servers of both versions can call each other."
                        : "Clients and servers of the two versions cannot call each other.");
        out.flush();
        return holds ? 0 : 1;
    }

    private Map<String, ServedInterface> read(String parameter, String classPath) {
        try {
            return ServiceArchive.read(classPath);
        } catch (IOException | ServiceArchive.UnreadableException e) {
            throw new ParameterException(spec.commandLine(), parameter + " " + classPath + ": " + e.getMessage(), e);
        }
    }

    /** @param now null if the service is gone */
    private static boolean compare(PrintWriter out, String channel, ServedInterface before, ServedInterface now) {
        String title = channel + " (" + before.name() + "): ";
        if (now == null) {
            out.println(title + "breaks");
            out.println(
                    "  breaks      its service is missing in the new version: clients of the old one find no server");
            return false;
        }
        if (now.fingerprint() == before.fingerprint()) {
            out.println(title + "unchanged");
            return true;
        }
        Compatibility compatibility = Compatibility.of(now, before, SIDES);
        out.println(title + (compatibility.holds() ? "compatible" : "breaks"));
        for (Difference difference : compatibility.differences()) {
            out.println((difference.breaks() ? "  breaks      " : "  compatible  ") + difference.what());
        }
        return compatibility.holds();
    }
}
