package dev.rackcall.samples.demo;

import dev.rackcall.samples.documents.Document;
import dev.rackcall.samples.documents.DocumentWriter;
import dev.rackcall.samples.documents.Found;
import dev.rackcall.samples.documents.Store;
import dev.rackcall.samples.documents.proto.DocumentsGrpc;
import dev.rackcall.samples.documents.proto.DocumentsProto.DocumentNumber;
import dev.rackcall.samples.documents.proto.DocumentsProto.NumberQuery;
import dev.rackcall.samples.documents.proto.DocumentsProto.PlainBatch;
import dev.rackcall.samples.documents.proto.DocumentsProto.PlainDocument;
import dev.rackcall.samples.documents.proto.DocumentsProto.PlainFound;
import dev.rackcall.samples.documents.proto.DocumentsProto.StoreSize;
import dev.rackcall.samples.documents.proto.DocumentsProto.TextQuery;
import io.grpc.Server;
import io.grpc.Status;
import io.grpc.netty.shaded.io.grpc.netty.NettyServerBuilder;
import io.grpc.netty.shaded.io.netty.channel.EventLoopGroup;
import io.grpc.netty.shaded.io.netty.channel.MultiThreadIoEventLoopGroup;
import io.grpc.netty.shaded.io.netty.channel.epoll.EpollIoHandler;
import io.grpc.netty.shaded.io.netty.channel.epoll.EpollServerDomainSocketChannel;
import io.grpc.netty.shaded.io.netty.channel.unix.DomainSocketAddress;
import io.grpc.netty.shaded.io.netty.util.concurrent.DefaultThreadFactory;
import io.grpc.stub.StreamObserver;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/**
 * The store behind grpc-java, on a Unix domain socket. Each client has an event loop of its own, whose thread runs the
 * handlers, so no call changes threads here. The server keeps the messages that it was sent and answers with them; the
 * store has the index.
 */
final class GrpcServer implements AutoCloseable {
    /** As much as {@link SocketMessage} takes. */
    static final int MAX_BYTES = 1 << 30;

    private static final long END_SECONDS = 5;

    private final Store store;
    private final Map<Long, PlainDocument> messages = new ConcurrentHashMap<>();
    private final PrivateArena arena;
    private final Server server;

    GrpcServer(Store store, Path directory, int clients, long quota) throws IOException {
        this.store = store;
        arena = new PrivateArena(quota);
        server = NettyServerBuilder.forAddress(address(directory))
                .channelType(EpollServerDomainSocketChannel.class)
                .bossEventLoopGroup(eventLoops("accept", 1))
                .workerEventLoopGroup(eventLoops("client", clients))
                .directExecutor()
                .maxInboundMessageSize(MAX_BYTES)
                .addService(new Service())
                .build()
                .start();
    }

    /** Forgets all messages. */
    void clear() {
        messages.clear();
    }

    static DomainSocketAddress address(Path directory) {
        return new DomainSocketAddress(directory.resolve("grpc.sock").toFile());
    }

    static EventLoopGroup eventLoops(String name, int threads) {
        return new MultiThreadIoEventLoopGroup(
                threads, new DefaultThreadFactory(name, true), EpollIoHandler.newFactory());
    }

    @Override
    public void close() {
        server.shutdownNow();
        try {
            server.awaitTermination(END_SECONDS, TimeUnit.SECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        store.close();
        arena.close();
    }

    private final class Service extends DocumentsGrpc.DocumentsImplBase {
        private final ThreadLocal<DocumentWriter> writer = ThreadLocal.withInitial(DocumentWriter::new);

        @Override
        public void put(PlainBatch request, StreamObserver<StoreSize> replies) {
            answer(replies, () -> {
                DocumentWriter own = writer.get();
                for (PlainDocument document : request.getDocumentsList()) {
                    messages.put(document.getNumber(), document);
                }
                int size = arena.add(
                        store, own, request.getDocumentsCount(), scope -> own.read(scope, request.getDocumentsList()));
                return StoreSize.newBuilder().setDocuments(size).build();
            });
        }

        @Override
        public void get(DocumentNumber request, StreamObserver<PlainDocument> replies) {
            answer(replies, () -> message(request.getNumber()));
        }

        @Override
        public void withText(TextQuery query, StreamObserver<PlainFound> replies) {
            answer(replies, () -> plain(store.withText(query.getPathList(), query.getText(), query.getLimit())));
        }

        @Override
        public void withNumber(NumberQuery query, StreamObserver<PlainFound> replies) {
            answer(
                    replies,
                    () -> plain(
                            store.withNumber(query.getPathList(), query.getLow(), query.getHigh(), query.getLimit())));
        }

        private PlainFound plain(Found found) {
            PlainFound.Builder message = PlainFound.newBuilder().setTotal(found.total());
            for (Document document : found.documents()) {
                message.addDocuments(message(document.number()));
            }
            return message.build();
        }

        private PlainDocument message(long number) {
            PlainDocument message = messages.get(number);
            if (message == null) {
                throw new IllegalArgumentException("no document has the number " + number);
            }
            return message;
        }

        private static <T> void answer(StreamObserver<T> replies, Supplier<T> work) {
            T answer;
            try {
                answer = work.get();
            } catch (RuntimeException e) { // the client reports every failure
                replies.onError(Status.INTERNAL
                        .withDescription(e.toString())
                        .withCause(e)
                        .asRuntimeException());
                return;
            }
            replies.onNext(answer);
            replies.onCompleted();
        }
    }
}
