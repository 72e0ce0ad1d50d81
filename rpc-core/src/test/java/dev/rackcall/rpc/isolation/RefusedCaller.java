package dev.rackcall.rpc.isolation;

import dev.rackcall.rpc.CallOptions;
import dev.rackcall.rpc.Isolation;
import dev.rackcall.rpc.RpcChannel;
import dev.rackcall.rpc.isolation.Vault.Coin;
import dev.rackcall.sandbox.IsolationEvents;
import dev.rackcall.shm.Scope;
import dev.rackcall.shm.pool.PoolOptions.Wish;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * A caller that asks a holder to keep its seals, and is refused. It prints its seccomp mode ({@code seccomp 0}: nothing
 * is given up) and the results of its calls. Argument: the holder's socket.
 */
public final class RefusedCaller {
    private RefusedCaller() {}

    public static void main(String[] arguments) throws IOException {
        try (RpcChannel channel = RpcChannel.builder("/test/sealed")
                        .enforcedSeals(Path.of(arguments[0]), Wish.PREFER)
                        .open();
                Scope scope = channel.newScope()) {
            System.out.println("seccomp " + filters());
            Coin coin = scope.create(Coin.class);
            coin.value(7);
            long before = IsolationEvents.counters().seals();
            SealedVault vault = channel.stub(SealedVault.class, CallOptions.DEFAULT.withIsolation(Isolation.SEALED));
            System.out.println("value " + vault.value(coin));
            System.out.println("seals " + (IsolationEvents.counters().seals() - before));
        }
    }

    private static String filters() throws IOException {
        String key = "Seccomp:";
        return Files.readAllLines(Path.of("/proc/self/status")).stream()
                .filter(line -> line.startsWith(key))
                .map(line -> line.substring(key.length()).trim())
                .findFirst()
                .orElse("none");
    }
}
