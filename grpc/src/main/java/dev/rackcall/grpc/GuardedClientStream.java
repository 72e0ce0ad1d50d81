package dev.rackcall.grpc;

import io.grpc.Attributes;
import io.grpc.Compressor;
import io.grpc.Deadline;
import io.grpc.DecompressorRegistry;
import io.grpc.Status;
import io.grpc.internal.ClientStream;
import io.grpc.internal.ClientStreamListener;
import io.grpc.internal.InsightBuilder;
import java.io.InputStream;

/**
 * Ends a call whose request marshaller throws an {@code Error} while its message is read. The error becomes the cause of
 * the call's status and goes no further: gRPC hands the first messages of a channel that is still connecting over to the
 * stream in one go, and an error there would keep it from ever passing on the call's end.
 */
record GuardedClientStream(ClientStream stream) implements ClientStream {
    @Override
    public void writeMessage(InputStream message) {
        try {
            stream.writeMessage(message);
        } catch (Error e) {
            stream.cancel(Status.CANCELLED
                    .withDescription("the request's marshaller failed: " + e)
                    .withCause(e));
        }
    }

    @Override
    public void start(ClientStreamListener listener) {
        stream.start(listener);
    }

    @Override
    public void request(int messages) {
        stream.request(messages);
    }

    @Override
    public void flush() {
        stream.flush();
    }

    @Override
    public boolean isReady() {
        return stream.isReady();
    }

    @Override
    public void halfClose() {
        stream.halfClose();
    }

    @Override
    public void cancel(Status reason) {
        stream.cancel(reason);
    }

    @Override
    public void optimizeForDirectExecutor() {
        stream.optimizeForDirectExecutor();
    }

    @Override
    public void setCompressor(Compressor compressor) {
        stream.setCompressor(compressor);
    }

    @Override
    public void setMessageCompression(boolean enable) {
        stream.setMessageCompression(enable);
    }

    @Override
    public void setFullStreamDecompression(boolean enable) {
        stream.setFullStreamDecompression(enable);
    }

    @Override
    public void setDecompressorRegistry(DecompressorRegistry registry) {
        stream.setDecompressorRegistry(registry);
    }

    @Override
    public void setMaxInboundMessageSize(int bytes) {
        stream.setMaxInboundMessageSize(bytes);
    }

    @Override
    public void setMaxOutboundMessageSize(int bytes) {
        stream.setMaxOutboundMessageSize(bytes);
    }

    @Override
    public void setAuthority(String authority) {
        stream.setAuthority(authority);
    }

    @Override
    public void setDeadline(Deadline deadline) {
        stream.setDeadline(deadline);
    }

    @Override
    public void appendTimeoutInsight(InsightBuilder insight) {
        stream.appendTimeoutInsight(insight);
    }

    @Override
    public Attributes getAttributes() {
        return stream.getAttributes();
    }
}
