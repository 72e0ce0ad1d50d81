package dev.rackcall.chronicle;

import dev.rackcall.rpc.Isolation;
import dev.rackcall.rpc.Rpc;
import dev.rackcall.rpc.RpcService;
import java.util.concurrent.CompletableFuture;
import net.openhft.chronicle.bytes.Bytes;

@RpcService("/test/papers")
interface Papers {
    record Page(int number, Bytes<?> content) {}

    @Rpc
    String text(Bytes<?> bytes);

    @Rpc(isolation = Isolation.SNAPSHOT)
    String textOfSnapshot(Bytes<?> bytes);

    /** Waits between its two looks at the first byte. */
    @Rpc
    int twice(Bytes<?> bytes);

    @Rpc
    Bytes<?> echo(Bytes<?> bytes);

    @Rpc
    Bytes<?> write(String text, boolean shared);

    @Rpc
    Bytes<?> blank(int bytes);

    @Rpc
    CompletableFuture<Bytes<?>> writeLater(String text);

    @Rpc
    Page next(Page page);
}
