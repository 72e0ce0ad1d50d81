package dev.rackcall.rpc.death;

import dev.rackcall.rpc.RpcChannel;
import dev.rackcall.rpc.RpcException;
import dev.rackcall.rpc.Status;
import dev.rackcall.rpc.contract.Echo;
import dev.rackcall.shm.OutOfArenaException;
import dev.rackcall.shm.Scope;
import dev.rackcall.shm.types.SharedBytes;
import dev.rackcall.testkit.Await;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;

/** A client process that fills its connection's arena for each line of its input, and then calls the server. */
final class FillingClient {
    private static final long QUOTA = 256L << 20;
    private static final int PIECE = 1 << 20;

    private FillingClient() {}

    public static void main(String[] arguments) throws IOException {
        BufferedReader input = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        byte[] piece = new byte[PIECE];
        System.out.println("ready");
        while (input.readLine() != null) {
            try (RpcChannel channel = RpcChannel.builder("/test/echo")
                            .runtimeFolder(Path.of(arguments[0]))
                            .arenaQuota(QUOTA)
                            .connectTimeout(Await.BOUND)
                            .open();
                    Scope scope = channel.newScope()) {
                System.out.println(
                        fill(scope, piece) + " sum " + channel.stub(Echo.class).add(1, 2));
                // Until the others are full, too.
                input.readLine();
            } catch (RpcException e) {
                // Another client was faster: there is no memory for this connection.
                System.out.println(
                        (e.code() == Status.Code.RESOURCE_EXHAUSTED ? "refused " : "failed ") + e.getMessage());
                input.readLine();
            }
            System.out.println("closed");
        }
    }

    private static String fill(Scope scope, byte[] piece) {
        long filled = 0;
        try {
            while (filled < QUOTA) {
                SharedBytes.copyOf(scope, piece);
                filled += PIECE;
            }
            return "full " + filled;
        } catch (OutOfArenaException e) {
            return (e.getMessage().contains("ENOMEM") ? "refused " : "full ") + filled;
        }
    }
}
