package dev.rackcall.perf;

import io.grpc.Drainable;
import io.grpc.KnownLength;
import io.grpc.MethodDescriptor;
import io.grpc.ServerServiceDefinition;
import io.grpc.stub.ServerCalls;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;

/**
 * A unary gRPC method that returns its argument. Messages are plain byte arrays, without protobuf: that flatters gRPC, whose users would
 * encode and decode as well.
 */
final class GrpcEcho {
    private static final String SERVICE = "dev.rackcall.perf.Echo";

    static final MethodDescriptor.Marshaller<byte[]> MARSHALLER = new BytesMarshaller();

    static final MethodDescriptor<byte[], byte[]> METHOD = MethodDescriptor.<byte[], byte[]>newBuilder()
            .setType(MethodDescriptor.MethodType.UNARY)
            .setFullMethodName(MethodDescriptor.generateFullMethodName(SERVICE, "echo"))
            .setRequestMarshaller(MARSHALLER)
            .setResponseMarshaller(MARSHALLER)
            .build();

    private GrpcEcho() {}

    static ServerServiceDefinition service() {
        return ServerServiceDefinition.builder(SERVICE)
                .addMethod(METHOD, ServerCalls.asyncUnaryCall((request, replies) -> {
                    replies.onNext(request);
                    replies.onCompleted();
                }))
                .build();
    }

    private static final class BytesMarshaller implements MethodDescriptor.Marshaller<byte[]> {
        @Override
        public InputStream stream(byte[] value) {
            return new BytesStream(value);
        }

        @Override
        public byte[] parse(InputStream stream) {
            try {
                return stream instanceof KnownLength ? stream.readNBytes(stream.available()) : stream.readAllBytes();
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    }

    /** The two extra interfaces let gRPC copy the array once, straight into its frame. */
    private static final class BytesStream extends ByteArrayInputStream implements KnownLength, Drainable {
        BytesStream(byte[] value) {
            super(value);
        }

        @Override
        public int drainTo(OutputStream target) throws IOException {
            int bytes = count - pos;
            target.write(buf, pos, bytes);
            pos = count;
            return bytes;
        }
    }
}
