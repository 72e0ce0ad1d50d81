package dev.rackcall.rack.guest;

import dev.rackcall.rpc.RpcChannel;
import dev.rackcall.rpc.RpcServer;
import dev.rackcall.shm.pool.Pool;
import dev.rackcall.shm.waiting.WaitStrategy;

/** B calls A: two kernels, one memory, nothing else between them. */
final class CallsStep implements Guest.Work {
    static final String CHANNEL = "/rack/yard";

    private static final Step STEP = Step.CALLS;

    @Override
    public String run(Guest guest) {
        try (Pool pool = Pool.dax(Guest.DEVICE, guest.number())) {
            return guest.is("A") ? serve(guest, pool) : call(guest, pool);
        }
    }

    static RpcServer server(Pool pool) {
        return YardCalls.server().pool(pool).start();
    }

    private static String serve(Guest guest, Pool pool) {
        try (RpcServer server = server(pool)) {
            guest.put(STEP, "serving", "");
            guest.get(STEP, "called");
            return "served " + server.channels() + " to another kernel";
        }
    }

    private static String call(Guest guest, Pool pool) {
        guest.get(STEP, "serving");
        long before = pool.arena().usedBytes();
        StringBuilder summary = new StringBuilder();
        try (RpcChannel channel = RpcChannel.builder(CHANNEL)
                        .pool(pool)
                        .connectTimeout(Guest.BOUND)
                        .open();
                RpcChannel sleeping = RpcChannel.builder(CHANNEL)
                        .pool(pool)
                        .waiting(WaitStrategy.blocking())
                        .connectTimeout(Guest.BOUND)
                        .open()) {
            Yard yard = channel.stub(Yard.class);
            guest.note("connected twice");
            summary.append(YardCalls.of(guest, channel, yard, true));
            summary.append("; asleep ")
                    .append(YardCalls.microsPerAdd(sleeping.stub(Yard.class), 20, 100))
                    .append(" us a call");
        }
        Guest.await(
                "the connections' memory does not come back", () -> pool.arena().usedBytes() <= before);
        guest.put(STEP, "called", "");
        return summary.toString();
    }
}
