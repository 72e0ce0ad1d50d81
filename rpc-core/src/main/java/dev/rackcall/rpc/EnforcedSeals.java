package dev.rackcall.rpc;

import dev.rackcall.shm.pool.PoolOptions.Wish;
import java.nio.file.Path;
import java.util.Objects;

/**
 * Seals of {@link Isolation#SEALED} calls that the caller cannot lift, because another process holds them, which both sides trust: a
 * {@link dev.rackcall.sandbox.SealHolder}. It may be the server's own.
 *
 * <p>A client that has its seals held so gives up, <b>for its whole process and as long as that lives</b>: userfaultfd (so seals of its own), io_uring, programs that
 * gain privileges when they are started, and unmapping the memory of such connections. docs/isolation.md says what that stops and what it does not.
 *
 * @param holder the socket that the holder serves at; the same for client and server
 * @param wish what to do where the other side or the host has none: go on with less, or refuse
 */
public record EnforcedSeals(Path holder, Wish wish) {
    public EnforcedSeals {
        Objects.requireNonNull(holder, "holder");
        Objects.requireNonNull(wish, "wish");
    }

    /** Whether to refuse what is less. */
    public boolean isRequired() {
        return wish == Wish.REQUIRE;
    }
}
