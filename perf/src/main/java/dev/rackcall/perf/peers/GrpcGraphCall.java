package dev.rackcall.perf.peers;

import dev.rackcall.perf.calls.BenchTransport;
import dev.rackcall.perf.calls.Graph;
import dev.rackcall.perf.harness.ClientSide;
import dev.rackcall.perf.harness.ServerSide;
import dev.rackcall.perf.harness.Sides;
import dev.rackcall.perf.harness.Subject;
import dev.rackcall.perf.harness.WrongReplyException;
import dev.rackcall.perf.result.BenchTarget;
import dev.rackcall.perf.result.Figures;
import io.grpc.CallOptions;
import io.grpc.ManagedChannel;
import io.grpc.MethodDescriptor;
import io.grpc.stub.ClientCalls;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.function.Function;

/**
 * A unary call through grpc-java over TCP that passes a graph, encoded by the caller and decoded by the handler, and
 * returns a number from its root.
 *
 * @param name the subject
 * @param nodes of the graph
 */
public record GrpcGraphCall(String name, int nodes) implements Sides {
    private static final BytesMarshaller BYTES = new BytesMarshaller();

    /** A subject that takes turns with a call over RDMA that passes a graph of this many bytes by pointer. */
    public static Subject beside(String name, String call, int bytes) {
        int nodes = Graph.nodes(bytes);
        String settings = GrpcTransport.TCP.settings() + "; the argument is as many nodes as " + Figures.bytes(bytes)
                + " of shared objects hold (" + nodes + "), encoded by hand and decoded to objects for each call";
        return Subject.of(name, bytes, settings, new GrpcGraphCall(name, nodes), Subject.Trait.TAKES_TURNS)
                .in(BenchTarget.RDMA, BenchTransport.RDMA_GROUP, call)
                .withFlags(GrpcCall.FLAGS);
    }

    private MethodDescriptor<HeapGraph, Long> method() {
        return MethodDescriptor.<HeapGraph, Long>newBuilder()
                .setType(MethodDescriptor.MethodType.UNARY)
                .setFullMethodName(MethodDescriptor.generateFullMethodName("dev.rackcall.perf.Touch", "touch"))
                .setRequestMarshaller(marshaller(root -> root.encode(nodes), HeapGraph::decode))
                .setResponseMarshaller(marshaller(
                        number ->
                                ByteBuffer.allocate(Long.BYTES).putLong(number).array(),
                        bytes -> ByteBuffer.wrap(bytes).getLong()))
                .build();
    }

    private static <T> MethodDescriptor.Marshaller<T> marshaller(
            Function<T, byte[]> encoder, Function<byte[], T> decoder) {
        return new MethodDescriptor.Marshaller<>() {
            @Override
            public InputStream stream(T value) {
                return BYTES.stream(encoder.apply(value));
            }

            @Override
            public T parse(InputStream stream) {
                return decoder.apply(BYTES.parse(stream));
            }
        };
    }

    @Override
    public ServerSide serve(Path directory) throws IOException {
        return GrpcTransport.TCP.serve(directory, method(), HeapGraph::sequence);
    }

    @Override
    public ClientSide connect(Path directory) throws IOException {
        ManagedChannel channel =
                GrpcTransport.TCP.channel(directory).directExecutor().build();
        MethodDescriptor<HeapGraph, Long> method = method();
        HeapGraph root = HeapGraph.of(nodes);
        return ClientSide.of(
                sequence -> {
                    root.sequence(sequence);
                    WrongReplyException.check(
                            name, sequence, ClientCalls.blockingUnaryCall(channel, method, CallOptions.DEFAULT, root));
                },
                channel::shutdownNow);
    }
}
