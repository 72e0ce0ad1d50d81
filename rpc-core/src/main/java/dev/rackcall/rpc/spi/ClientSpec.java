package dev.rackcall.rpc.spi;

import dev.rackcall.shm.waiting.WaitStrategy;
import java.nio.file.Path;
import java.time.Duration;

/**
 * What a channel asks of a transport.
 *
 * @param channel the channel's name
 * @param directory where sockets and lock files are
 * @param waiting how callers wait
 * @param slots calls that may be under way at once; a power of two
 * @param arenaQuota bytes that the connection's request arena, and its reply arena, may grow to
 * @param connectTimeout bound on connecting
 * @param defaultTimeout time-out of calls that set none
 * @param sealFrom from how many bytes on a call with {@link dev.rackcall.rpc.Isolation#AUTO} seals its scope instead of having it copied
 */
public record ClientSpec(
        String channel,
        Path directory,
        WaitStrategy waiting,
        int slots,
        long arenaQuota,
        Duration connectTimeout,
        Duration defaultTimeout,
        long sealFrom) {
    /**
     * Where a seal costs less than a copy on pages of 4 KiB: a seal takes 0.15 us a page there and a page fault at the next store to each page, a copy from
     * cache 0.08 us a page; only copies that leave the cache cost more than a seal.
     */
    public static final long DEFAULT_SEAL_FROM = 8 << 20;

    /** With the customary {@link #sealFrom}. */
    public ClientSpec(
            String channel,
            Path directory,
            WaitStrategy waiting,
            int slots,
            long arenaQuota,
            Duration connectTimeout,
            Duration defaultTimeout) {
        this(channel, directory, waiting, slots, arenaQuota, connectTimeout, defaultTimeout, DEFAULT_SEAL_FROM);
    }
}
