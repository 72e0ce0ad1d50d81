package dev.rackcall.rack.guest;

import dev.rackcall.rpc.Rpc;
import dev.rackcall.rpc.RpcService;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;

/** The service of the rack's guests. */
@RpcService("/rack/yard")
public interface Yard {
    /** Nothing. */
    @Rpc
    void nothing();

    /** Both together. */
    @Rpc
    long add(long first, long second);

    /** The same bytes. */
    @Rpc
    byte[] echo(byte[] bytes);

    /** The numbers of a crate and all below it, which are read where they lie. */
    @Rpc
    long sum(Crate top);

    /** A pile of so many crates, in the server's memory until it is released. */
    @Rpc
    Crate pile(int crates);

    /** The numbers from 0 on. */
    @Rpc
    Stream<Integer> count(int end);

    /** The number, some time later. */
    @Rpc
    CompletableFuture<Integer> later(int value, int millis);

    /** Answers when the call is cancelled or the time is over. */
    @Rpc
    void block(long millis);
}
