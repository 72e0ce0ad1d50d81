package dev.rackcall.rpc.contract;

import dev.rackcall.rpc.Rpc;
import dev.rackcall.rpc.RpcService;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;

/** The service of the transport contract: one method for each thing that can happen to a call. */
@RpcService("/test/echo")
public interface Echo {
    /** A value with every kind of component. */
    record Parcel(
            String name, int weight, Kind kind, List<Double> sizes, Map<String, Long> stamps, Optional<String> note) {}

    /** Kinds of parcels. */
    enum Kind {
        LETTER,
        BOX
    }

    @Rpc
    void nothing();

    @Rpc
    long add(long first, long second);

    @Rpc
    byte[] bytes(byte[] value);

    @Rpc
    Parcel parcel(Parcel parcel);

    @Rpc
    CompletableFuture<Integer> later(int value, int millis);

    @Rpc(oneWay = true)
    void note(String text);

    @Rpc
    List<String> notes();

    @Rpc
    Stream<Integer> count(int from, int to);

    @Rpc
    Stream<String> failAfter(int elements);

    @Rpc
    void fail(String code, String description);

    @Rpc
    void crash(String message);

    /** Blocks until the call is cancelled or the time has passed; returns whether it was cancelled. */
    @Rpc
    boolean block(long millis);

    @Rpc
    String header(String key);

    @Rpc
    long remainingMillis();
}
