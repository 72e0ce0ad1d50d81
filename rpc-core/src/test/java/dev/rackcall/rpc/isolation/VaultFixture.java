package dev.rackcall.rpc.isolation;

import static org.assertj.core.api.Assumptions.assumeThat;

import dev.rackcall.rpc.CallOptions;
import dev.rackcall.rpc.Isolation;
import dev.rackcall.rpc.RpcChannel;
import dev.rackcall.rpc.contract.RpcFixture;
import dev.rackcall.rpc.isolation.Vault.Coin;
import dev.rackcall.sandbox.os.UnsupportedFeatureException;
import dev.rackcall.sandbox.os.Userfault;
import dev.rackcall.shm.Scope;

/** Calls of {@link Vault} and {@link SealedVault}. */
abstract class VaultFixture extends RpcFixture {
    final void requireSeals() {
        try {
            Userfault.open().close();
        } catch (UnsupportedFeatureException e) {
            System.err.println("SKIPPED " + getClass().getSimpleName() + ": " + e.getMessage());
            assumeThat(e).isNull();
        }
    }

    static Coin coin(Scope scope, long value) {
        Coin coin = scope.create(Coin.class);
        coin.value(value);
        return coin;
    }

    static Vault vault(RpcChannel channel, Isolation isolation) {
        return channel.stub(Vault.class, CallOptions.DEFAULT.withIsolation(isolation));
    }

    static SealedVault sealed(RpcChannel channel, Isolation isolation) {
        return channel.stub(SealedVault.class, CallOptions.DEFAULT.withIsolation(isolation));
    }
}
