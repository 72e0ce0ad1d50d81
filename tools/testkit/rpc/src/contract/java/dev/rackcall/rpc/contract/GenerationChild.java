package dev.rackcall.rpc.contract;

import static org.assertj.core.api.Assertions.assertThat;

import dev.rackcall.rpc.RpcServer;
import dev.rackcall.testkit.ChildJvm;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;

/** A server of one version of {@link EvolutionTest}'s service, in a process of its own. */
public final class GenerationChild {
    /** What it prints once it can be told to serve. */
    static final String LOADED = "LOADED";
    /** What it prints once it serves. */
    static final String READY = "READY";

    private static final String LEFT = "LEFT ";
    private static final String HINTS = "HINTS ";
    private static final Duration BOUND = Duration.ofSeconds(60);

    private GenerationChild() {}

    /** A server in the runtime folder of its environment. Argument: the folder of the version's classes. */
    public static void main(String[] args) throws Exception {
        serve(args[0], RpcServer.builder());
    }

    /** Serves from the first line that comes in to the second, and drains then; or until the input ends. */
    public static void serve(String classes, RpcServer.Builder place) throws Exception {
        BufferedReader input = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        try (Generation generation = Generation.load(Path.of(classes), EvolutionTest.ENDS)) {
            System.out.println(LOADED);
            if (input.readLine() == null) {
                return;
            }
            try (RpcServer server = generation.serve(place).start()) {
                System.out.println(READY);
                if (input.readLine() != null) {
                    System.out.println(LEFT + server.shutdown(BOUND));
                    System.out.println(HINTS + Generation.HINTS);
                }
            }
        }
    }

    /** Lets a child drain and end. Returns its {@link Generation#HINTS}. */
    static int leave(ChildJvm child) throws IOException, InterruptedException {
        child.send("leave");
        assertThat(child.awaitLine(LEFT)).as("it drained").isEqualTo(LEFT + true);
        String hints = child.awaitLine(HINTS);
        assertThat(child.end()).isZero();
        return Integer.parseInt(hints.substring(HINTS.length()));
    }
}
