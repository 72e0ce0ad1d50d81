package dev.rackcall.cli.view;

import dev.rackcall.cli.top.TopWatch;
import dev.rackcall.cp.ControlAddress;
import dev.rackcall.cp.HostId;
import dev.rackcall.cp.agent.Agent;
import dev.rackcall.cp.agent.AgentOptions;
import dev.rackcall.verbs.soft.SoftDevice;
import dev.rackcall.verbs.soft.SoftOptions;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Path;

/**
 * A host's agent that sees only the processes in a folder like {@code /proc}. Its arguments are the host's name, the meta
 * server's address, the directory's, and that folder. It prints "tells ..." once it serves, and ends with its input.
 */
final class ViewAgentChild {
    private ViewAgentChild() {}

    /** The program. */
    public static void main(String[] arguments) throws IOException, InterruptedException {
        String host = arguments[0];
        ControlAddress meta = ControlAddress.parse(arguments[1]);
        Path processes = Path.of(arguments[3]);
        try (Agent agent = Agent.open(
                        SoftDevice.of("agent-" + host, SoftOptions.local()),
                        AgentOptions.of(HostId.named(host)).withMeta(() -> meta));
                HostNumbers _ = HostNumbers.serve(
                        agent.admit("view"),
                        host,
                        URI.create(arguments[2]),
                        processes.resolveSibling("run-" + host),
                        () -> TopWatch.of(processes),
                        ViewAgentChild::say)) {
            while (System.in.read() >= 0) {
                // Whatever it is sent.
            }
        }
    }

    private static void say(String line) {
        System.out.println(line);
    }
}
