package dev.rackcall.samples.pages.later;

import dev.rackcall.rpc.Default;
import dev.rackcall.rpc.Rpc;
import dev.rackcall.rpc.RpcService;
import dev.rackcall.shm.types.Shared;
import dev.rackcall.shm.types.Since;
import java.util.List;
import java.util.Optional;

/** A cart after some changes; comments say which. */
@RpcService("/shop/cart")
public interface Cart {
    enum Size {
        SMALL,
        LARGE,
        HUGE // new
    }

    record Item(
            String name,
            long count, // was an int
            Size size,
            Optional<String> note, // new
            @Default("1") int parcels, // new
            @Default("") List<String> tags) {} // new

    @Shared
    interface Page {
        long id();

        void id(long value);

        @Since(2)
        int lines(); // new

        void lines(int value);
    }

    @Rpc
    void add(Item item);

    @Rpc
    void clear(); // new

    @Rpc
    long words(Page page, long from); // from was an int
}
