package dev.rackcall.rpc.contract;

import dev.rackcall.rpc.Rpc;
import dev.rackcall.rpc.RpcService;
import dev.rackcall.shm.Ref;
import dev.rackcall.shm.types.Inline;
import dev.rackcall.shm.types.Releasable;
import dev.rackcall.shm.types.Shared;
import dev.rackcall.shm.types.SharedList;
import java.util.List;

/** The service of the tests with shared objects. */
@RpcService("/test/library")
public interface Library {
    /** A page of a book, linked to the next. */
    @Shared
    interface Page {
        long number();

        void number(long value);

        String text();

        void text(String value);

        Ref<Page> next();

        void next(Ref<Page> value);

        boolean next(Page into);
    }

    @Shared
    interface Imprint extends Releasable {
        long year();

        void year(long value);
    }

    @Shared
    interface Book extends Releasable {
        @Inline
        Imprint imprint();

        String title();

        void title(String value);

        SharedList<Page> pages();

        void pages(SharedList<Page> value);
    }

    @Rpc
    long sum(Page first);

    @Rpc
    List<String> texts(Book book);

    @Rpc
    Book write(String title, int pages);

    @Rpc
    void keep(Book book);

    @Rpc
    List<String> kept();

    @Rpc
    void dropKept();

    @Rpc
    Page failAfterWriting();

    @Rpc
    Page foreign();
}
