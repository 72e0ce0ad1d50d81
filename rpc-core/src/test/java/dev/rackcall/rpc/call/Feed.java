package dev.rackcall.rpc.call;

import dev.rackcall.rpc.Rpc;
import dev.rackcall.rpc.RpcService;
import java.util.List;
import java.util.function.Supplier;
import java.util.stream.Stream;

/** A stream whose values take part in their own encoding: encoding a list asks it for its elements. */
@RpcService("/test/feed")
public interface Feed {
    /** One element of the stream. */
    record Item(List<Long> values) {}

    @Rpc
    Stream<Item> items();

    @Rpc
    long add(long first, long second);

    /** A service with these elements. */
    static Feed of(Supplier<Stream<Item>> items) {
        return new Feed() {
            @Override
            public Stream<Item> items() {
                return items.get();
            }

            @Override
            public long add(long first, long second) {
                return first + second;
            }
        };
    }
}
