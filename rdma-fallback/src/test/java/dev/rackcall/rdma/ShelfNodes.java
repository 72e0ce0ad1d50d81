package dev.rackcall.rdma;

import dev.rackcall.rpc.RpcChannel;
import dev.rackcall.rpc.RpcServer;
import dev.rackcall.rpc.contract.Library.Page;
import dev.rackcall.rpc.contract.RpcFixture;
import dev.rackcall.shm.Ref;
import dev.rackcall.shm.RefException;
import dev.rackcall.shm.Scope;
import dev.rackcall.shm.types.SharedObject;
import java.net.URI;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.function.UnaryOperator;
import java.util.stream.LongStream;
import org.junit.jupiter.api.BeforeEach;

/** A shelf over RDMA: its server, which is the home, and two nodes, one that writes and one that reads. */
abstract class ShelfNodes extends RpcFixture {
    /** For the order of the pages in their scope. */
    static final long SEED = 815;

    final ShelfService shelf = new ShelfService();
    RpcServer server;
    RpcChannel writer;
    RpcChannel reader;
    Shelf written;
    Shelf read;

    private final String host;
    private final UnaryOperator<RpcChannel.Builder> change;

    /**
     * Opens nothing yet.
     *
     * @param host an address of this host that no other test uses
     * @param change sets more than a small arena for the nodes' channels
     */
    ShelfNodes(String host, UnaryOperator<RpcChannel.Builder> change) {
        this.host = host;
        this.change = change;
    }

    @BeforeEach
    void openNodes() {
        server = serve(shelves());
        writer = open();
        reader = open();
        written = writer.stub(Shelf.class);
        read = reader.stub(Shelf.class);
    }

    RpcServer.Builder shelves() {
        return serving(Shelf.class, shelf).listen(URI.create("rdma://" + host + ":0"));
    }

    /** A further node. */
    RpcChannel open() {
        return open(change.apply(channelTo(server)));
    }

    static RpcChannel.Builder channelTo(RpcServer server) {
        return EchoServer.channelTo(Shelf.class, server).arenaQuota(8 << 20);
    }

    /** A chain of this many pages in random order, numbered from {@code from} on. */
    static List<Page> chain(Scope scope, int count, long from) {
        List<Page> pages = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            Page page = scope.create(Page.class);
            page.text("page " + i);
            pages.add(page);
        }
        Collections.shuffle(pages, new Random(SEED));
        for (int i = 0; i < count; i++) {
            pages.get(i).number(from + i);
            pages.get(i).next(i + 1 < count ? SharedObject.toRef(pages.get(i + 1)) : Ref.nullRef());
        }
        return pages;
    }

    static List<Long> numbers(long from, int count) {
        return LongStream.range(from, from + count).boxed().toList();
    }

    /** Whether a node knows that what it read is gone. */
    static boolean isGoneAtAll(Page page) {
        try {
            return SharedObject.liveRefOf(page) == 0;
        } catch (RefException e) {
            return true;
        }
    }
}
