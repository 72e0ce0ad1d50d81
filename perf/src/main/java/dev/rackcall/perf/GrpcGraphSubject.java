package dev.rackcall.perf;

import io.grpc.CallOptions;
import io.grpc.ManagedChannel;
import io.grpc.MethodDescriptor;
import io.grpc.ServerServiceDefinition;
import io.grpc.stub.ClientCalls;
import io.grpc.stub.ServerCalls;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.util.Optional;

/** A unary call through grpc-java over TCP that passes a graph, encoded by the caller and decoded by the handler, and returns a number from its root. */
final class GrpcGraphSubject extends GrpcSubject {
    private static final String SERVICE = "dev.rackcall.perf.Touch";

    private final int nodes;
    private final MethodDescriptor<HeapGraph, Long> method;

    GrpcGraphSubject(String name, String beside, int bytes) {
        super(name, GrpcTransport.TCP, bytes, Optional.of(beside));
        nodes = Graph.nodes(bytes);
        method = MethodDescriptor.<HeapGraph, Long>newBuilder()
                .setType(MethodDescriptor.MethodType.UNARY)
                .setFullMethodName(MethodDescriptor.generateFullMethodName(SERVICE, "touch"))
                .setRequestMarshaller(new GraphMarshaller(nodes))
                .setResponseMarshaller(new NumberMarshaller())
                .build();
    }

    @Override
    String settings() {
        return super.settings() + "; the argument is as many nodes as " + Figures.bytes(bytes())
                + " of shared objects hold (" + nodes + "), encoded by hand and decoded to objects for each call";
    }

    @Override
    ServerServiceDefinition service() {
        return ServerServiceDefinition.builder(SERVICE)
                .addMethod(method, ServerCalls.asyncUnaryCall((root, replies) -> {
                    replies.onNext(root.sequence());
                    replies.onCompleted();
                }))
                .build();
    }

    @Override
    ClientSide client(ManagedChannel channel) {
        return new Client(name(), channel, method, HeapGraph.of(nodes));
    }

    private record Client(String name, ManagedChannel channel, MethodDescriptor<HeapGraph, Long> method, HeapGraph root)
            implements ClientSide {
        @Override
        public void call(long sequence) {
            root.sequence(sequence);
            long reply = ClientCalls.blockingUnaryCall(channel, method, CallOptions.DEFAULT, root);
            if (reply != sequence) {
                throw new WrongReplyException(name, sequence, reply);
            }
        }

        @Override
        public void close() {
            channel.shutdownNow();
        }
    }

    private record GraphMarshaller(int nodes) implements MethodDescriptor.Marshaller<HeapGraph> {
        @Override
        public InputStream stream(HeapGraph root) {
            return GrpcEcho.MARSHALLER.stream(root.encode(nodes));
        }

        @Override
        public HeapGraph parse(InputStream stream) {
            return HeapGraph.decode(GrpcEcho.MARSHALLER.parse(stream));
        }
    }

    private static final class NumberMarshaller implements MethodDescriptor.Marshaller<Long> {
        @Override
        public InputStream stream(Long value) {
            return GrpcEcho.MARSHALLER.stream(
                    ByteBuffer.allocate(Long.BYTES).putLong(value).array());
        }

        @Override
        public Long parse(InputStream stream) {
            return ByteBuffer.wrap(GrpcEcho.MARSHALLER.parse(stream)).getLong();
        }
    }
}
