package dev.rackcall.samples.demo;

import dev.rackcall.samples.demo.QueryPlan.Query;
import dev.rackcall.samples.documents.Digest;
import dev.rackcall.samples.documents.JsonDocument;
import dev.rackcall.samples.documents.PlainDocuments;
import dev.rackcall.samples.documents.proto.DocumentsGrpc;
import dev.rackcall.samples.documents.proto.DocumentsProto.DocumentNumber;
import dev.rackcall.samples.documents.proto.DocumentsProto.NumberQuery;
import dev.rackcall.samples.documents.proto.DocumentsProto.PlainBatch;
import dev.rackcall.samples.documents.proto.DocumentsProto.PlainDocument;
import dev.rackcall.samples.documents.proto.DocumentsProto.PlainFound;
import dev.rackcall.samples.documents.proto.DocumentsProto.TextQuery;
import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.ClientCall;
import io.grpc.ClientInterceptor;
import io.grpc.ClientStreamTracer;
import io.grpc.ManagedChannel;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.StatusRuntimeException;
import io.grpc.netty.shaded.io.grpc.netty.NettyChannelBuilder;
import io.grpc.netty.shaded.io.netty.channel.epoll.EpollDomainSocketChannel;
import io.grpc.netty.shaded.io.netty.channel.unix.DomainSocketAddress;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;

/** Sends documents as protobuf messages by grpc-java, through a Unix domain socket; reads the messages that it finds. */
final class GrpcClient extends StoreClient {
    private static final long END_SECONDS = 5;

    private final Bytes bytes = new Bytes();
    private final ManagedChannel channel;
    private final DocumentsGrpc.DocumentsBlockingStub store;

    GrpcClient(Path directory) {
        channel = NettyChannelBuilder.forAddress(GrpcServer.address(directory))
                .channelType(EpollDomainSocketChannel.class, DomainSocketAddress.class)
                .eventLoopGroup(GrpcServer.eventLoops("grpc", 1))
                .usePlaintext()
                .directExecutor()
                .maxInboundMessageSize(GrpcServer.MAX_BYTES)
                .intercept(bytes)
                .build();
        store = DocumentsGrpc.newBlockingStub(channel);
    }

    @Override
    void put(List<JsonDocument> documents) throws IOException {
        PlainBatch.Builder batch = PlainBatch.newBuilder();
        for (JsonDocument document : documents) {
            batch.addDocuments(PlainDocuments.of(document));
        }
        call(() -> store.put(batch.build()));
    }

    @Override
    long get(long number) throws IOException {
        return Digest.of(call(
                () -> store.get(DocumentNumber.newBuilder().setNumber(number).build())));
    }

    @Override
    Outcome search(Query query) throws IOException {
        PlainFound found = call(() -> find(query));
        long digests = 0;
        for (PlainDocument document : found.getDocumentsList()) {
            digests = 31 * digests + Digest.of(document);
        }
        return new Outcome(found.getTotal(), found.getDocumentsCount(), digests);
    }

    private PlainFound find(Query query) {
        if (query.text().isPresent()) {
            return store.withText(TextQuery.newBuilder()
                    .addAllPath(query.path())
                    .setText(query.text().get())
                    .setLimit(DemoPlan.LIMIT)
                    .build());
        }
        return store.withNumber(NumberQuery.newBuilder()
                .addAllPath(query.path())
                .setLow(query.low())
                .setHigh(query.high())
                .setLimit(DemoPlan.LIMIT)
                .build());
    }

    private <T> T call(Supplier<T> call) throws IOException {
        try {
            return call.get();
        } catch (StatusRuntimeException e) {
            throw new IOException("the server answered: " + e.getStatus(), e);
        } finally {
            count(bytes.take(), 0);
        }
    }

    @Override
    public void close() {
        channel.shutdownNow();
        try {
            channel.awaitTermination(END_SECONDS, TimeUnit.SECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** Counts the bytes of messages, without the headers of HTTP/2. The event loop's thread adds, the caller's takes. */
    private static final class Bytes extends ClientStreamTracer implements ClientInterceptor {
        private final AtomicLong bytes = new AtomicLong();
        private final Factory factory = new Factory() {
            @Override
            public ClientStreamTracer newClientStreamTracer(StreamInfo info, Metadata headers) {
                return Bytes.this;
            }
        };

        long take() {
            return bytes.getAndSet(0);
        }

        @Override
        public <Q, R> ClientCall<Q, R> interceptCall(MethodDescriptor<Q, R> method, CallOptions options, Channel next) {
            return next.newCall(method, options.withStreamTracerFactory(factory));
        }

        @Override
        public void outboundWireSize(long sent) {
            bytes.addAndGet(sent);
        }

        @Override
        public void inboundWireSize(long received) {
            bytes.addAndGet(received);
        }
    }
}
