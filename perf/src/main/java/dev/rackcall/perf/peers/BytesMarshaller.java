package dev.rackcall.perf.peers;

import io.grpc.Drainable;
import io.grpc.KnownLength;
import io.grpc.MethodDescriptor;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;

/** Messages as plain byte arrays, without protobuf: that flatters gRPC, whose users would encode and decode as well. */
public final class BytesMarshaller implements MethodDescriptor.Marshaller<byte[]> {
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
