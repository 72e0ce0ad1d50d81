package dev.rackcall.rpc.call;

import dev.rackcall.rpc.Rpc;
import dev.rackcall.rpc.RpcService;
import dev.rackcall.rpc.contract.Library;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/** Books that arrive after their caller has stopped waiting. */
@RpcService("/test/late-books")
public interface LateBooks {
    @Rpc
    CompletableFuture<Library.Book> write(String title, int pages);

    @Rpc
    CompletableFuture<List<Library.Book>> shelf(String title);
}
