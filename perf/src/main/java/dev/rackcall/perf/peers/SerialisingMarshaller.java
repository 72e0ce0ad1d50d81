package dev.rackcall.perf.peers;

import com.google.protobuf.BytesValue;
import io.grpc.MethodDescriptor;
import io.grpc.protobuf.ProtoUtils;
import java.io.InputStream;

/** Encodes and decodes every message: grpc-java's own marshaller hands a message of the same process over as it is. */
final class SerialisingMarshaller implements MethodDescriptor.Marshaller<BytesValue> {
    private static final BytesMarshaller BYTES = new BytesMarshaller();
    private static final MethodDescriptor.Marshaller<BytesValue> MESSAGES =
            ProtoUtils.marshaller(BytesValue.getDefaultInstance());

    @Override
    public InputStream stream(BytesValue message) {
        return BYTES.stream(message.toByteArray());
    }

    @Override
    public BytesValue parse(InputStream stream) {
        return MESSAGES.parse(stream);
    }
}
