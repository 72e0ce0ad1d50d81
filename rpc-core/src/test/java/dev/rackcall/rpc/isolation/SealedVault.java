package dev.rackcall.rpc.isolation;

import dev.rackcall.rpc.Isolation;
import dev.rackcall.rpc.Rpc;
import dev.rackcall.rpc.RpcService;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;

/**
 * The service of the seal tests: handlers read their argument in place, before and after its caller tries to change it.
 */
@RpcService(value = "/test/sealed", isolation = Isolation.SEALED)
public interface SealedVault {
    /** Reads the value, meets the test twice, and reads it again. */
    @Rpc
    List<Long> valueTwice(Vault.Coin coin);

    @Rpc
    CompletableFuture<List<Long>> valueTwiceLater(Vault.Coin coin);

    @Rpc
    Stream<Long> values(Vault.Coin coin);

    @Rpc(oneWay = true)
    void tell(Vault.Coin coin);

    /** Fails before it reads anything. */
    @Rpc
    long fail(Vault.Coin coin);

    @Rpc
    long value(Vault.Coin coin);

    @Rpc(isolation = Isolation.SNAPSHOT)
    List<Long> copyTwice(Vault.Coin coin);
}
