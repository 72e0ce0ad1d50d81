package dev.rackcall.soak;

import dev.rackcall.grpc.RackcallServerBuilder;
import dev.rackcall.testkit.Await;
import io.grpc.MethodDescriptor;
import io.grpc.MethodDescriptor.MethodType;
import io.grpc.Server;
import io.grpc.ServerServiceDefinition;
import io.grpc.stub.ServerCalls;
import io.grpc.stub.StreamObserver;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;

/** A process that serves byte arrays to grpc-java's clients. */
final class GrpcSoakServer extends SoakChild {
    static final MethodDescriptor<byte[], byte[]> ECHO = method("Echo", MethodType.UNARY);
    /** Answers with the request, as many times as its first byte says. */
    static final MethodDescriptor<byte[], byte[]> REPEAT = method("Repeat", MethodType.SERVER_STREAMING);
    /** Answers with the length of all requests, in four bytes. */
    static final MethodDescriptor<byte[], byte[]> LENGTH = method("Length", MethodType.CLIENT_STREAMING);
    /** Answers each request with itself. */
    static final MethodDescriptor<byte[], byte[]> CHAT = method("Chat", MethodType.BIDI_STREAMING);

    private static final int THREADS = 3;
    private static final long MOST_PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(5);

    private final AtomicLong calls = new AtomicLong();
    /** As many threads as at first, also after quiet times. */
    private final ExecutorService handlers = Executors.newFixedThreadPool(THREADS);

    private final Server server;

    GrpcSoakServer(String channel) throws IOException {
        server = RackcallServerBuilder.forChannel(channel)
                .executor(handlers)
                .addService(ServerServiceDefinition.builder("soak.Bytes")
                        .addMethod(ECHO, ServerCalls.asyncUnaryCall((request, answers) -> answer(answers, request, 1)))
                        .addMethod(
                                REPEAT,
                                ServerCalls.asyncServerStreamingCall(
                                        (request, answers) -> answer(answers, request, repetitions(request))))
                        .addMethod(LENGTH, ServerCalls.asyncClientStreamingCall(this::length))
                        .addMethod(CHAT, ServerCalls.asyncBidiStreamingCall(this::chat))
                        .build())
                .build()
                .start();
    }

    private static MethodDescriptor<byte[], byte[]> method(String name, MethodType type) {
        MethodDescriptor.Marshaller<byte[]> bytes = new MethodDescriptor.Marshaller<>() {
            @Override
            public InputStream stream(byte[] value) {
                return new ByteArrayInputStream(value);
            }

            @Override
            public byte[] parse(InputStream stream) {
                try {
                    return stream.readAllBytes();
                } catch (IOException e) {
                    throw new UncheckedIOException(e);
                }
            }
        };
        return MethodDescriptor.newBuilder(bytes, bytes)
                .setType(type)
                .setFullMethodName("soak.Bytes/" + name)
                .build();
    }

    static int repetitions(byte[] request) {
        return request.length == 0 ? 0 : request[0] & 0xff;
    }

    private void answer(StreamObserver<byte[]> answers, byte[] value, int times) {
        if (calls.incrementAndGet() % 2 == 0) {
            LockSupport.parkNanos(value.length * MOST_PAUSE_NANOS / GrpcSoakConnection.MOST_BYTES);
        }
        for (int i = 0; i < times; i++) {
            answers.onNext(value);
        }
        answers.onCompleted();
    }

    private StreamObserver<byte[]> length(StreamObserver<byte[]> answers) {
        int[] length = {0};
        return receiving(
                request -> length[0] += request.length,
                () -> answer(
                        answers,
                        ByteBuffer.allocate(Integer.BYTES).putInt(length[0]).array(),
                        1));
    }

    private StreamObserver<byte[]> chat(StreamObserver<byte[]> answers) {
        calls.incrementAndGet();
        return receiving(answers::onNext, answers::onCompleted);
    }

    private static StreamObserver<byte[]> receiving(Consumer<byte[]> each, Runnable end) {
        return new StreamObserver<>() {
            @Override
            public void onNext(byte[] value) {
                each.accept(value);
            }

            @Override
            public void onError(Throwable failure) {
                // The client has cancelled, or is gone.
            }

            @Override
            public void onCompleted() {
                end.run();
            }
        };
    }

    @Override
    Map<String, Long> calm() {
        return Map.of("calls", calls.get());
    }

    @Override
    void end() throws InterruptedException {
        server.shutdown();
        if (!server.awaitTermination(Await.BOUND.toSeconds(), TimeUnit.SECONDS)) {
            throw new AssertionError("the server did not end within " + Await.BOUND);
        }
        handlers.shutdown();
    }
}
