package dev.rackcall.rpc;

import java.util.concurrent.CompletableFuture;

/** Books that come when nobody waits for them any more. */
@RpcService("/test/late-books")
public interface LateBooks {
    @Rpc
    CompletableFuture<Library.Book> write(String title, int pages);
}
