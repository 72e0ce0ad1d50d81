package dev.rackcall.samples.pages;

import dev.rackcall.rpc.Rpc;
import dev.rackcall.rpc.RpcContext;
import dev.rackcall.rpc.RpcService;
import dev.rackcall.shm.types.Releasable;
import dev.rackcall.shm.types.Shared;
import dev.rackcall.shm.types.SharedList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/** Objects that are passed by pointer, in both directions. */
@RpcService("/shop/documents")
public interface Documents {
    @Shared
    interface Document {
        long id();

        Document id(long value);

        String title();

        Document title(String value);

        SharedList<Document> children();

        Document children(SharedList<Document> value);
    }

    @Shared
    interface Book extends Releasable {
        String title();

        Book title(String value);
    }

    @Shared
    interface Point {
        int x();

        Point x(int value);

        int y();

        Point y(int value);
    }

    @Rpc
    void index(Document document);

    @Rpc
    Book find(long id);

    /** The handler. */
    final class Library implements Documents {
        final List<String> indexed = new CopyOnWriteArrayList<>();

        @Override
        public void index(Document document) {
            indexed.add(document.title());
            document.children().forEach(child -> indexed.add(child.title()));
        }

        @Override
        public Book find(long id) {
            return RpcContext.current()
                    .orElseThrow()
                    .replyScope()
                    .create(Book.class)
                    .title("volume " + id);
        }
    }
}
