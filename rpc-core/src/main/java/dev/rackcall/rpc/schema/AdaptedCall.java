package dev.rackcall.rpc.schema;

import dev.rackcall.rpc.spi.ClientCall;
import dev.rackcall.rpc.spi.ForwardingCall;
import dev.rackcall.shm.codec.PayloadReader;
import dev.rackcall.shm.codec.PayloadWriter;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;

/**
 * A call to a server of another version. The stub encodes its own version into private memory, which is converted into
 * the call's memory before the call is sent; the answer is converted into private memory before it is decoded.
 */
final class AdaptedCall extends ForwardingCall {
    private final AdaptedConnection connection;
    private final AdaptedMethod method;
    /** Null when no private memory is in use. */
    private Conversion arguments;

    private Conversion answer;

    AdaptedCall(AdaptedConnection connection, AdaptedMethod method, ClientCall call) {
        super(call);
        this.connection = connection;
        this.method = method;
    }

    @Override
    public PayloadWriter arguments() {
        if (method.arguments() == null) {
            return call.arguments();
        }
        if (arguments == null) {
            arguments = connection.take();
            arguments.begin();
        }
        return arguments.writer();
    }

    @Override
    public <T> void sendStream(Stream<T> elements, ElementWriter<T> writer) {
        call.sendStream(elements, method.elements() == null ? writer : convertingElements(writer));
    }

    private <T> ElementWriter<T> convertingElements(ElementWriter<T> writer) {
        AdaptedConnection home = connection;
        Converter converter = method.elements();
        return (out, element) -> {
            Conversion conversion = home.take();
            try {
                conversion.begin();
                writer.write(conversion.writer(), element);
                PayloadReader in = conversion.written();
                converter.convert(in, out);
                in.expectEnd();
            } finally {
                conversion.end();
                home.give(conversion);
            }
        };
    }

    private void handOver() {
        if (arguments != null) {
            PayloadReader in = arguments.written();
            method.arguments().convert(in, call.arguments());
            in.expectEnd();
            releaseArguments();
        }
    }

    private void releaseArguments() {
        if (arguments != null) {
            arguments.end();
            connection.give(arguments);
            arguments = null;
        }
    }

    @Override
    public PayloadReader invoke() {
        handOver();
        PayloadReader in = call.invoke();
        if (method.result() == null) {
            return in;
        }
        answer = connection.take();
        PayloadReader converted = answer.convert(method.result(), in);
        in.expectEnd();
        return converted;
    }

    @Override
    public <T> CompletableFuture<T> invokeAsync(ResultReader<T> reader) {
        handOver();
        return call.invokeAsync(converting(reader));
    }

    @Override
    public void invokeOneWay() {
        handOver();
        call.invokeOneWay();
    }

    @Override
    public <T> Stream<T> invokeStream(ResultReader<T> reader) {
        handOver();
        return call.invokeStream(converting(reader));
    }

    private <T> ResultReader<T> converting(ResultReader<T> reader) {
        if (method.result() == null) {
            return reader;
        }
        AdaptedConnection home = connection;
        AdaptedMethod called = method;
        return (in, answered) -> {
            Conversion conversion = home.take();
            try {
                PayloadReader converted = conversion.convert(called.result(), in);
                if (!called.isStream()) {
                    // The elements of a stream follow one another.
                    in.expectEnd();
                }
                T result = reader.read(converted, answered);
                converted.expectEnd();
                return result;
            } finally {
                conversion.end();
                home.give(conversion);
            }
        };
    }

    @Override
    public void close() {
        releaseArguments();
        if (answer != null) {
            answer.end();
            connection.give(answer);
            answer = null;
        }
        call.close();
    }

    @Override
    public RuntimeException abandon(Throwable cause) {
        releaseArguments();
        return call.abandon(cause);
    }
}
