package dev.rackcall.rpc.call;

import dev.rackcall.rpc.Rpc;
import dev.rackcall.rpc.RpcService;
import dev.rackcall.rpc.contract.Library;
import java.util.concurrent.CompletableFuture;

/** Books that come when nobody waits for them any more. */
@RpcService("/test/late-books")
public interface LateBooks {
    @Rpc
    CompletableFuture<Library.Book> write(String title, int pages);
}
