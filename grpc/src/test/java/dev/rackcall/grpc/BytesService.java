package dev.rackcall.grpc;

import io.grpc.BindableService;
import io.grpc.MethodDescriptor;
import io.grpc.MethodDescriptor.MethodType;
import io.grpc.ServerServiceDefinition;
import io.grpc.stub.ServerCallStreamObserver;
import io.grpc.stub.ServerCalls;
import io.grpc.stub.StreamObserver;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;

/** A service of byte arrays, so that tests need no generated code. */
final class BytesService implements BindableService {
    static final MethodDescriptor<byte[], byte[]> ECHO = method("Echo", MethodType.UNARY);
    /** Answers when {@link #letGo} is released. */
    static final MethodDescriptor<byte[], byte[]> HOLD = method("Hold", MethodType.UNARY);

    static final MethodDescriptor<byte[], byte[]> CHAT = method("Chat", MethodType.BIDI_STREAMING);

    /** Answers with the request, {@link #PARTS} times. */
    static final MethodDescriptor<byte[], byte[]> REPEAT = method("Repeat", MethodType.SERVER_STREAMING);

    static final int PARTS = 16;

    final Semaphore held = new Semaphore(0);
    final Semaphore letGo = new Semaphore(0);
    final CountDownLatch cancelled = new CountDownLatch(1);

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
                .setFullMethodName("test.Bytes/" + name)
                .build();
    }

    @Override
    public ServerServiceDefinition bindService() {
        return ServerServiceDefinition.builder("test.Bytes")
                .addMethod(ECHO, ServerCalls.asyncUnaryCall((request, observer) -> answer(observer, request)))
                .addMethod(HOLD, ServerCalls.asyncUnaryCall(this::hold))
                .addMethod(REPEAT, ServerCalls.asyncServerStreamingCall(BytesService::repeat))
                .addMethod(CHAT, ServerCalls.asyncBidiStreamingCall(BytesService::chat))
                .build();
    }

    private void hold(byte[] request, StreamObserver<byte[]> observer) {
        ((ServerCallStreamObserver<byte[]>) observer).setOnCancelHandler(cancelled::countDown);
        held.release();
        Thread.ofVirtual().start(() -> {
            letGo.acquireUninterruptibly();
            answer(observer, request);
        });
    }

    private static void answer(StreamObserver<byte[]> observer, byte[] value) {
        observer.onNext(value);
        observer.onCompleted();
    }

    private static void repeat(byte[] request, StreamObserver<byte[]> observer) {
        for (int i = 0; i < PARTS; i++) {
            observer.onNext(request);
        }
        observer.onCompleted();
    }

    /** Returns each message. */
    static StreamObserver<byte[]> chat(StreamObserver<byte[]> answers) {
        return new StreamObserver<>() {
            @Override
            public void onNext(byte[] value) {
                answers.onNext(value);
            }

            @Override
            public void onError(Throwable failure) {
                // The client has gone.
            }

            @Override
            public void onCompleted() {
                answers.onCompleted();
            }
        };
    }
}
