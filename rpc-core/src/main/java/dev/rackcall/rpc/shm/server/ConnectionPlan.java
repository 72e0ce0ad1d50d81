package dev.rackcall.rpc.shm.server;

import dev.rackcall.rpc.Status;
import dev.rackcall.rpc.shm.protocol.ControlLayout;
import dev.rackcall.rpc.spi.LimitedLog;
import dev.rackcall.shm.os.OsException;
import dev.rackcall.shm.os.file.SharedFile;
import dev.rackcall.shm.pool.PoolOptions.Wish;
import java.util.Optional;

/**
 * Where the parts of a connection's memory lie: control region, request arena and reply arena, each on its own pages.
 *
 * @param requestAt start of the request arena
 * @param quota bytes of either arena
 */
public record ConnectionPlan(long requestAt, long quota) {
    private static final LimitedLog LOG = LimitedLog.of(ConnectionPlan.class);
    private static final long HUGE_PAGE = 2 << 20;

    /** A plan and the memory made for it. */
    record Made(ConnectionPlan plan, SharedFile file) {}

    /**
     * Plans a connection's memory.
     *
     * @param quota maximum bytes of either arena, rounded down to whole pages
     * @param pageBytes page size of the memory
     */
    public static ConnectionPlan of(int slots, long quota, long pageBytes) {
        long requestAt = (ControlLayout.controlBytes(slots) + pageBytes - 1) & -pageBytes;
        return new ConnectionPlan(requestAt, quota & -pageBytes);
    }

    public long replyAt() {
        return requestAt + quota;
    }

    private long bytes() {
        return replyAt() + quota;
    }

    /**
     * Makes the memory, and reserves what both sides need at once.
     *
     * @param quota maximum bytes of either arena
     * @param sealsHeld whether a holder may shut out writers once both sides have mapped it; only with small pages
     * @throws dev.rackcall.rpc.RpcException RESOURCE_EXHAUSTED if huge pages are required and there are too few
     */
    static Made make(String channel, int slots, long quota, Optional<Wish> hugePages, boolean sealsHeld) {
        if (hugePages.isPresent()) {
            try {
                return huge(channel, slots, quota);
            } catch (OsException | IllegalArgumentException e) {
                lacking(channel, hugePages.get() == Wish.REQUIRE, e);
            }
        }
        ConnectionPlan plan = of(slots, quota, ControlLayout.PAGE);
        return new Made(
                plan,
                sealsHeld
                        ? SharedFile.memfdForSomeWriters(fileName(channel), plan.bytes())
                        : SharedFile.memfd(fileName(channel), plan.bytes()));
    }

    private static Made huge(String channel, int slots, long quota) {
        ConnectionPlan plan = of(slots, quota, HUGE_PAGE);
        if (plan.quota == 0) {
            throw new IllegalArgumentException(
                    "arenas of " + quota + " bytes, as asked, are less than a huge page of " + HUGE_PAGE + " bytes");
        }
        SharedFile file = SharedFile.hugeMemfd(fileName(channel), plan.bytes());
        try {
            // Otherwise a later access could fail because no huge page is left.
            file.reserve(plan.requestAt, HUGE_PAGE);
            file.reserve(plan.replyAt(), HUGE_PAGE);
            return new Made(plan, file);
        } catch (OsException e) {
            file.close();
            throw e;
        }
    }

    private static String fileName(String channel) {
        return "rackcall" + channel;
    }

    private static void lacking(String channel, boolean isRequired, RuntimeException why) {
        if (isRequired) {
            throw noHugePages(Status.Code.RESOURCE_EXHAUSTED, channel, why);
        }
        LOG.info("a connection to {} has small pages: {}", channel, why.getMessage());
    }

    /** Refuses a channel that requires huge pages if this host cannot provide them. */
    public static void checkHost(String channel, Optional<Wish> hugePages) {
        if (hugePages.filter(Wish.REQUIRE::equals).isPresent()) {
            try {
                SharedFile.hugeMemfd(fileName(channel), HUGE_PAGE).close();
            } catch (OsException e) {
                throw noHugePages(Status.Code.FAILED_PRECONDITION, channel, e);
            }
        }
    }

    private static RuntimeException noHugePages(Status.Code code, String channel, RuntimeException why) {
        return code.with(
                        "channel %s requires huge pages, of which a connection needs three of 2 MiB at first: %s; reserve more"
                                + " (sysctl vm.nr_hugepages=N), or only prefer them",
                        channel, why.getMessage())
                .asException(why);
    }
}
