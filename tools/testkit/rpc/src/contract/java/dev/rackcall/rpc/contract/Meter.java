package dev.rackcall.rpc.contract;

import dev.rackcall.rpc.Rpc;
import dev.rackcall.rpc.RpcService;
import java.util.List;
import java.util.stream.Stream;

/** The service of {@link StreamContract}: its callers send streams. */
@RpcService("/test/meter")
public interface Meter {
    record Reading(String place, long value) {}

    record Summary(int count, long sum, String last) {}

    @Rpc
    Summary record(String who, Stream<Reading> readings);

    /** Reads all of them, and fails with their failure. */
    @Rpc
    void drain(Stream<byte[]> blocks);

    /** Takes that many elements, and closes the stream or not. */
    @Rpc
    List<Integer> first(int count, boolean close, Stream<Integer> numbers);

    /** Takes one element for each permit that the test gives. */
    @Rpc
    int taken(Stream<Integer> numbers);

    /** Answers each element with its double. */
    @Rpc
    Stream<Integer> doubled(Stream<Integer> numbers);

    /** Reads an element before it returns. */
    @Rpc
    Stream<String> greet(String greeting, Stream<String> names);

    @Rpc
    int add(int a, int b);
}
