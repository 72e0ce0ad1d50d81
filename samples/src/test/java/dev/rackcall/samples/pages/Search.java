package dev.rackcall.samples.pages;

import dev.rackcall.rpc.Isolation;
import dev.rackcall.rpc.Rpc;
import dev.rackcall.rpc.RpcService;
import dev.rackcall.samples.pages.Documents.Document;
import dev.rackcall.shm.types.Shared;

/** Arguments that are isolated, or that the handler changes. */
@RpcService(value = "/shop/search", isolation = Isolation.AUTO)
public interface Search {
    @Rpc
    int index(Document document); // AUTO, from the service

    @Rpc(isolation = Isolation.TRUSTED)
    int count(Document document);

    @Rpc(writes = true)
    void bump(Counter counter); // the caller sees the stores when the call has succeeded

    @Shared
    interface Counter {
        int value();

        Counter value(int next);
    }

    /** The handler. */
    final class Index implements Search {
        @Override
        public int index(Document document) {
            return document.title().length();
        }

        @Override
        public int count(Document document) {
            return index(document);
        }

        @Override
        public void bump(Counter counter) {
            counter.value(counter.value() + 1);
        }
    }
}
