package dev.rackcall.rdma;

import dev.rackcall.rpc.spi.Carrier;
import dev.rackcall.rpc.spi.CarrierProvider;
import java.util.concurrent.CompletableFuture;

/** A listener's place for one client, whose carrier it hands to the test. */
public record OneSeat(CarrierProvider.Memory memory, CompletableFuture<Carrier> taken) implements CarrierProvider.Seat {
    @Override
    public void take(Carrier carrier) {
        taken.complete(carrier);
    }

    @Override
    public void leave() {
        taken.completeExceptionally(new IllegalStateException("the seat was left"));
    }
}
