package dev.rackcall.rpc.death;

import dev.rackcall.rpc.RpcServer;
import dev.rackcall.rpc.contract.Echo;
import dev.rackcall.rpc.contract.EchoService;
import dev.rackcall.rpc.contract.Library;
import dev.rackcall.rpc.contract.LibraryService;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;

/**
 * A server process that starts serving as soon as it reads "serve". It prints "ready", "serving" and, after its input
 * has ended and it has closed in order, "closed".
 */
final class StandbyServer {
    private StandbyServer() {}

    /**
     * The program.
     *
     * @param arguments the runtime directory; anything, to relieve no handler that gets no processor for a while, which
     *     later calls would overtake
     */
    public static void main(String[] arguments) throws IOException {
        Path directory = Path.of(arguments[0]);
        boolean inOrder = arguments.length > 1;
        // Loads the classes.
        try (RpcServer warmUp =
                server(directory.resolve("warm-up" + ProcessHandle.current().pid()), inOrder)) {
            assert warmUp.connections() == 0;
        }
        System.out.println("ready");
        BufferedReader orders = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        if (!"serve".equals(orders.readLine())) {
            return;
        }
        try (RpcServer server = server(directory, inOrder)) {
            System.out.println("serving");
            for (String order = orders.readLine(); order != null; order = orders.readLine()) {
                System.out.println("connections " + server.connections());
            }
        }
        System.out.println("closed");
    }

    private static RpcServer server(Path directory, boolean inOrder) {
        RpcServer.Builder builder = RpcServer.builder()
                .service(Echo.class, new EchoService())
                .service(Library.class, new LibraryService())
                .runtimeFolder(directory);
        return (inOrder ? builder.stuckAfter(Duration.ofMinutes(5)) : builder).start();
    }
}
