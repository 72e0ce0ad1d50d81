package dev.rackcall.rpc.servers;

import dev.rackcall.rpc.RpcChannel;
import dev.rackcall.rpc.contract.CountingLedger;
import dev.rackcall.rpc.contract.Ledger;
import dev.rackcall.rpc.contract.RpcFixture;
import dev.rackcall.testkit.Await;
import org.junit.jupiter.api.Test;

/** What handlers store, where a channel has several servers. */
class SeveralLedgersTest extends RpcFixture {
    @Test
    void shouldShowTheCallerWhatAHandlerOfEitherServerStores() {
        CountingLedger one = new CountingLedger();
        CountingLedger two = new CountingLedger();
        serve(Ledger.class, one);
        serve(Ledger.class, two);
        RpcChannel channel = open(Ledger.class);
        Ledger ledger = channel.stub(Ledger.class);
        Await.until("both servers have stored", () -> {
            CountingLedger.assertDeposits(channel, ledger);
            return one.deposits() > 1 && two.deposits() > 1;
        });
    }
}
