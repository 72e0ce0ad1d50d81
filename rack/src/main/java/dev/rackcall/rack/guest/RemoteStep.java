package dev.rackcall.rack.guest;

import dev.rackcall.rpc.RpcChannel;
import dev.rackcall.rpc.RpcServer;
import java.net.URI;
import java.time.Duration;

/** C calls A over RDMA: each has memory of its own, and what one writes is pushed into the other's by {@code rxe0}. */
final class RemoteStep implements GuestStep {
    /** Where A is, in the network that the machine makes of its guests. */
    static final URI ADDRESS = URI.create("rdma://10.77.0.1:18515");

    /** What each arena takes of a guest, which has 1 GiB. */
    static final long ARENA_BYTES = 8L << 20;

    private static final Step STEP = Step.REMOTE;

    @Override
    public String run(Guest guest) {
        return guest.is("A") ? serve(guest) : call(guest);
    }

    private static String serve(Guest guest) {
        try (RpcServer server = YardCalls.server().listen(ADDRESS).start()) {
            guest.put(STEP, "serving", "");
            guest.get(STEP, "called");
            return "served " + server.channels() + " at " + ADDRESS;
        }
    }

    static RpcChannel channel() {
        return channel(Guest.BOUND);
    }

    static RpcChannel channel(Duration connectTimeout) {
        return RpcChannel.builder(CallsStep.CHANNEL)
                .address(ADDRESS)
                .arenaQuota(ARENA_BYTES)
                .connectTimeout(connectTimeout)
                .open();
    }

    private static String call(Guest guest) {
        guest.get(STEP, "serving");
        try (RpcChannel channel = channel()) {
            guest.note("connected");
            String told = YardCalls.of(guest, channel, channel.stub(Yard.class), true);
            guest.put(STEP, "called", "");
            return told;
        }
    }
}
