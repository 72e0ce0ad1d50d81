package dev.rackcall.rpc;

import dev.rackcall.shm.pool.PoolOptions.Wish;
import java.nio.file.Path;
import java.util.Objects;

/**
 * Seals of {@link Isolation#SEALED} calls that the caller cannot lift, because another process holds them. Both sides
 * trust that process, a {@link dev.rackcall.sandbox.SealHolder}, possibly the server's own.
 *
 * <p>A client with enforced seals loses, <b>for its whole process and lifetime</b>: userfaultfd (and so its own seals),
 * io_uring, programs that gain privileges when they start, and unmapping the memory of such connections.
 * docs/isolation.md describes what this prevents and what it does not.
 *
 * @param holder the holder's socket; the same for client and server
 * @param wish whether a peer or host without a holder is refused, or continues without enforced seals
 */
public record EnforcedSeals(Path holder, Wish wish) {
    public EnforcedSeals {
        Objects.requireNonNull(holder, "holder");
        Objects.requireNonNull(wish, "wish");
    }

    /** Whether a peer or host without a holder is refused. */
    public boolean isRequired() {
        return wish == Wish.REQUIRE;
    }
}
