package dev.rackcall.rack.guest;

import dev.rackcall.rpc.RpcChannel;
import dev.rackcall.rpc.RpcServer;
import java.net.URI;

/**
 * C calls A over RDMA: each has memory of its own, and {@code rxe0} pushes changes to the other. Then C calls over
 * software devices, although both guests have a real one.
 */
final class RemoteStep implements Guest.Work {
    /** A's address in the guests' network. */
    static final URI ADDRESS = URI.create("rdma://10.77.0.1:18515");

    private static final URI SOFTWARE = URI.create("soft://10.77.0.1:18518");

    /** The size of each arena; a guest has 1.5 GiB. */
    static final long ARENA_BYTES = 8L << 20;

    private static final Step STEP = Step.REMOTE;

    @Override
    public String run(Guest guest) {
        return guest.is("A") ? serve(guest) : call(guest);
    }

    private static String serve(Guest guest) {
        try (RpcServer server =
                YardCalls.server().listen(ADDRESS).listen(SOFTWARE).start()) {
            guest.put(STEP, "serving", "");
            guest.get(STEP, "called");
            return "served " + server.channels() + " at " + server.addresses();
        }
    }

    /** A channel to A that does not share A's memory. */
    static RpcChannel.Builder channel(URI address) {
        return RpcChannel.builder(CallsStep.CHANNEL)
                .address(address)
                .arenaQuota(ARENA_BYTES)
                .connectTimeout(Guest.BOUND);
    }

    private static String call(Guest guest) {
        guest.get(STEP, "serving");
        try (RpcChannel channel = channel(ADDRESS).open()) {
            guest.note("connected");
            String summary = YardCalls.of(guest, channel, channel.stub(Yard.class), true);
            callBySoftware(guest);
            guest.put(STEP, "called", "");
            return summary;
        }
    }

    /** Hosts whose devices do not reach each other connect like this. */
    private static void callBySoftware(Guest guest) {
        try (RpcChannel channel = channel(SOFTWARE).open()) {
            Guest.require(channel.stub(Yard.class).add(1, 2) == 3, "1 and 2 are not 3 at " + SOFTWARE);
            guest.note("called at " + SOFTWARE);
        }
    }
}
