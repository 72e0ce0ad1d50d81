package dev.rackcall.samples.pages;

import static org.assertj.core.api.Assertions.assertThat;

import dev.rackcall.rpc.RpcChannel;
import dev.rackcall.rpc.RpcServer;
import dev.rackcall.samples.pages.Documents.Book;
import dev.rackcall.samples.pages.Documents.Document;
import dev.rackcall.samples.pages.Documents.Point;
import dev.rackcall.shm.Scope;
import dev.rackcall.shm.pool.Pool;
import dev.rackcall.shm.types.SharedInlineArray;
import dev.rackcall.shm.types.SharedList;
import dev.rackcall.shm.types.SharedObject;
import dev.rackcall.shm.types.SharedType;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The page on objects in shared memory. */
class MemoryPageTest {
    @TempDir
    private Path folder;

    private final Documents.Library library = new Documents.Library();
    private final List<Long> refs = new ArrayList<>();
    private RpcServer server;

    @BeforeEach
    void start() {
        server = RpcServer.builder()
                .runtimeFolder(folder)
                .service(Documents.class, library)
                .start();
    }

    @AfterEach
    void stop() {
        server.close();
    }

    @Test
    void shouldPassADocumentByPointer() {
        try (RpcChannel channel = RpcChannel.builder("/shop/documents")
                        .runtimeFolder(folder)
                        .open();
                Scope scope = channel.newScope()) {
            Document document = scope.create(Document.class).id(7).title("Rackcall");
            document.children(SharedList.create(scope, Document.class));
            document.children().add(scope.create(Document.class).title("child"));
            channel.stub(Documents.class).index(document); // passes one 8-byte Ref, which is valid until the call ends
        }
        assertThat(library.indexed).containsExactly("Rackcall", "child");
    }

    @Test
    void shouldLayRecordsSideBySide() {
        try (RpcChannel channel = RpcChannel.builder("/shop/documents")
                        .runtimeFolder(folder)
                        .open();
                Scope scope = channel.newScope()) {
            SharedInlineArray<Point> points = SharedInlineArray.create(scope, SharedType.of(Point.class), 1_000);
            points.get(7).x(1).y(2);
            assertThat(points.get(7).y()).isEqualTo(2);
        }
    }

    @Test
    void shouldReleaseAResult() {
        try (RpcChannel channel =
                RpcChannel.builder("/shop/documents").runtimeFolder(folder).open()) {
            String title;
            try (Book book = channel.stub(Documents.class).find(7)) {
                title = book.title();
            }
            assertThat(title).isEqualTo("volume 7");
        }
    }

    @Test
    void shouldAllocateInAPool() {
        Path path =
                Path.of("/dev/shm", "rackcall-orders-" + ProcessHandle.current().pid());
        try (Pool pool = Pool.file(path, 64L << 20);
                Scope scope = pool.arena().newScope()) {
            Document order = scope.create(Document.class).id(1);
            refs.add(SharedObject.refOf(order)); // a long, which every process that has opened the pool can follow
        }
        assertThat(refs).doesNotContain(0L).hasSize(1);
        assertThat(path).as("the pool's file, after its last user").doesNotExist();
    }
}
