package dev.rackcall.rpc.isolation;

import dev.rackcall.rpc.Status;
import dev.rackcall.rpc.isolation.Vault.Coin;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;

/** A {@link SealedVault} that only reads. */
public class ReadingVault implements SealedVault {
    @Override
    public long value(Coin argument) {
        return argument.value();
    }

    @Override
    public List<Long> valueTwice(Coin argument) {
        return List.of(argument.value(), argument.value());
    }

    @Override
    public List<Long> copyTwice(Coin argument) {
        return valueTwice(argument);
    }

    @Override
    public CompletableFuture<List<Long>> valueTwiceLater(Coin argument) {
        throw new UnsupportedOperationException();
    }

    @Override
    public Stream<Long> values(Coin argument) {
        return Stream.of(argument.value());
    }

    @Override
    public void tell(Coin argument) {
        argument.value();
    }

    @Override
    public long fail(Coin argument) {
        throw Status.Code.ABORTED.with("on purpose").asException();
    }
}
