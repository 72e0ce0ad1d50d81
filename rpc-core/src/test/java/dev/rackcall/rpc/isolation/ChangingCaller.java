package dev.rackcall.rpc.isolation;

import dev.rackcall.rpc.CallOptions;
import dev.rackcall.rpc.Isolation;
import dev.rackcall.rpc.RpcChannel;
import dev.rackcall.rpc.isolation.Vault.Coin;
import dev.rackcall.shm.Ref;
import dev.rackcall.shm.Scope;
import dev.rackcall.shm.types.SharedObject;
import java.nio.file.Path;

/**
 * A caller that uses AUTO and changes its argument between its calls. Argument: the runtime directory. Prints how many
 * calls succeeded.
 */
public final class ChangingCaller {
    static final int CALLS = 16;
    /** More than 100 KB. */
    private static final int COINS = 5_000;

    private ChangingCaller() {}

    public static void main(String[] arguments) {
        System.out.println("answered " + call(Path.of(arguments[0])));
    }

    /** Returns how many calls succeeded; throws the error of the first failed call. */
    static int call(Path directory) {
        try (RpcChannel channel = RpcChannel.builder("/test/vault")
                        .runtimeFolder(directory)
                        .open();
                Scope scope = channel.newScope()) {
            Vault vault = channel.stub(Vault.class, CallOptions.DEFAULT.withIsolation(Isolation.AUTO));
            Coin first = scope.create(Coin.class);
            first.next(Ref.nullRef());
            for (int i = 1; i < COINS; i++) {
                Coin coin = scope.create(Coin.class);
                coin.next(SharedObject.toRef(first));
                first = coin;
            }
            for (int i = 0; i < CALLS; i++) {
                first.value(i);
                long sum = vault.sumTrusted(first);
                if (sum != i) {
                    throw new IllegalStateException("a sum of " + sum + ", not " + i);
                }
            }
            return CALLS;
        }
    }
}
