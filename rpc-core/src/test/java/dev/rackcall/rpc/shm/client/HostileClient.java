package dev.rackcall.rpc.shm.client;

import dev.rackcall.rpc.RpcChannel;
import dev.rackcall.rpc.contract.Echo;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;

/**
 * A process that attacks. Arguments: the server's directory; the first seed; how many; {@code any} or {@code shared},
 * if only the shared arena is to be attacked. Says {@code ready} and waits for a line. Runs the kept cases, unless it
 * is only that, and then those of the seeds; says {@code at CASE} now and then, {@code failed CASE LINE} if the server
 * did what it must not, {@code done} at the end.
 */
public final class HostileClient {
    private static final int CASES_PER_PROBE = 200;

    private HostileClient() {}

    public static void main(String[] arguments) throws IOException {
        Path directory = Path.of(arguments[0]);
        long first = Long.parseLong(arguments[1]);
        long count = Long.parseLong(arguments[2]);
        HostileCases cases = HostileCases.record(directory);
        HostileScript script = new HostileScript(directory);
        boolean onlyShared = arguments[3].equals("shared");
        System.out.println("ready");
        if (System.in.read() < 0) {
            return;
        }
        System.out.println("attacking");
        List<String> kept = onlyShared ? List.of() : HostileCases.kept();
        for (int i = 0; i < kept.size(); i++) {
            attack(script, "kept " + (i + 1), kept.get(i));
        }
        for (long i = 0; i < count; i++) {
            attack(script, "seed " + (first + i), onlyShared ? cases.sharedOf(first + i) : cases.of(first + i));
            if (i % CASES_PER_PROBE == CASES_PER_PROBE - 1) {
                probe(directory);
                System.out.println("at " + (i + 1));
            }
        }
        probe(directory);
        script.leaveAll();
        System.out.println("done " + script.steps() + " steps");
    }

    private static void attack(HostileScript script, String name, String line) {
        try {
            script.run(line);
        } catch (Throwable t) {
            System.out.println("failed " + name + ": " + line);
            t.printStackTrace();
            System.exit(1);
        }
    }

    /** An honest call: the server must still take clients and serve them. */
    private static void probe(Path directory) {
        try (RpcChannel channel =
                RpcChannel.builder("/test/echo").runtimeFolder(directory).open()) {
            if (channel.stub(Echo.class).add(20, 22) != 42) {
                throw new AssertionError("a wrong sum");
            }
        }
    }
}
