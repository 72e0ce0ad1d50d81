package dev.rackcall.rpc.spi;

import dev.rackcall.rpc.EnforcedSeals;
import dev.rackcall.shm.pool.Pool;
import dev.rackcall.shm.waiting.WaitStrategy;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;

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
 * @param keepSealed how many scopes, and pages of them, stay write-protected after sealed calls until somebody uses them; 0: none
 * @param pool of several hosts, in which the server is looked for instead of on this host; open as long as the channel
 * @param address of the server, which then shares no memory with this process
 * @param enforcedSeals who is to hold the seals of calls, so that this process cannot lift them
 */
public record ClientSpec(
        String channel,
        Path directory,
        WaitStrategy waiting,
        int slots,
        long arenaQuota,
        Duration connectTimeout,
        Duration defaultTimeout,
        long sealFrom,
        int keepSealed,
        Optional<Pool> pool,
        Optional<URI> address,
        Optional<EnforcedSeals> enforcedSeals) {
    /** Larger scopes are more than a server copies unless it is told to; for smaller ones it is found out what costs less. */
    public static final long DEFAULT_SEAL_FROM = 64 << 20;

    /** Of arenas in shared memory, of which only what is used is taken. */
    public static final long NEAR_QUOTA = 256L << 20;

    /** Of arenas that are carried over: mirrors are reserved whole. */
    public static final long REMOTE_QUOTA = 16L << 20;

    /** As many as RPCool releases together (arXiv 2408.11325). */
    public static final int DEFAULT_KEEP_SEALED = 1024;

    /** With the customary {@link #sealFrom} and {@link #keepSealed}, on this host. */
    public ClientSpec(
            String channel,
            Path directory,
            WaitStrategy waiting,
            int slots,
            long arenaQuota,
            Duration connectTimeout,
            Duration defaultTimeout) {
        this(
                channel,
                directory,
                waiting,
                slots,
                arenaQuota,
                connectTimeout,
                defaultTimeout,
                DEFAULT_SEAL_FROM,
                DEFAULT_KEEP_SEALED,
                Optional.empty(),
                Optional.empty(),
                Optional.empty());
    }

    /** The same channel, reached in another way: by a runtime directory, unless there is a pool or an address. */
    public ClientSpec reachedBy(Path runtime, Optional<Pool> sharedPool, Optional<URI> remote) {
        long quota = remote.isPresent() && arenaQuota == NEAR_QUOTA ? REMOTE_QUOTA : arenaQuota;
        return new ClientSpec(
                channel,
                runtime,
                waiting,
                slots,
                quota,
                connectTimeout,
                defaultTimeout,
                sealFrom,
                keepSealed,
                sharedPool,
                remote,
                enforcedSeals);
    }

    /** The same channel, to be connected in less time. */
    public ClientSpec within(Duration timeout) {
        return new ClientSpec(
                channel,
                directory,
                waiting,
                slots,
                arenaQuota,
                timeout,
                defaultTimeout,
                sealFrom,
                keepSealed,
                pool,
                address,
                enforcedSeals);
    }
}
