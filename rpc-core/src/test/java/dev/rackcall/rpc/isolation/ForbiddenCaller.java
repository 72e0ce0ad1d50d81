package dev.rackcall.rpc.isolation;

import dev.rackcall.rpc.RpcChannel;
import dev.rackcall.rpc.isolation.Vault.Coin;
import dev.rackcall.sandbox.os.Lockdown;
import dev.rackcall.shm.Scope;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/**
 * A caller in a process without userfaultfd, as in some containers: on the line {@code change} it changes its argument,
 * and nothing prevents that.
 */
public final class ForbiddenCaller {
    private ForbiddenCaller() {}

    public static void main(String[] arguments) throws Exception {
        BufferedReader input = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        Lockdown.forbidLifting();
        try (RpcChannel channel = RpcChannel.open("/test/sealed");
                Scope scope = channel.newScope()) {
            Coin coin = scope.create(Coin.class);
            coin.value(5);
            CompletableFuture<List<Long>> values =
                    channel.stub(SealedVault.class).valueTwiceLater(coin);
            if ("change".equals(input.readLine())) {
                coin.value(6);
                System.out.println("changed to " + coin.value());
            }
            System.out.println("values " + values.get());
        }
    }
}
