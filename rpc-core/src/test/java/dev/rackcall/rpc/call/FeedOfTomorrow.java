package dev.rackcall.rpc.call;

import dev.rackcall.rpc.Rpc;
import dev.rackcall.rpc.RpcService;
import java.util.stream.Stream;

/** A later version of {@link Feed}: one parameter has another type, one method is new. */
@RpcService("/test/feed")
public interface FeedOfTomorrow {
    @Rpc
    Stream<Feed.Item> items();

    @Rpc
    long add(double first, long second);

    @Rpc
    long multiply(long first, long second);
}
