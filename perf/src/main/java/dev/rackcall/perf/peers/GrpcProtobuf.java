package dev.rackcall.perf.peers;

import com.google.protobuf.ByteString;
import com.google.protobuf.BytesValue;
import dev.rackcall.perf.harness.ClientSide;
import dev.rackcall.perf.harness.Payload;
import dev.rackcall.perf.harness.ServerSide;
import dev.rackcall.perf.harness.Sides;
import dev.rackcall.perf.harness.Subject;
import dev.rackcall.perf.result.BenchTarget;
import io.grpc.CallOptions;
import io.grpc.ManagedChannel;
import io.grpc.MethodDescriptor;
import io.grpc.MethodDescriptor.MethodType;
import io.grpc.ServerServiceDefinition;
import io.grpc.protobuf.ProtoUtils;
import io.grpc.stub.ClientCalls;
import io.grpc.stub.ServerCalls;
import io.grpc.stub.StreamObserver;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/**
 * Calls of grpc-java that serialise protobuf messages.
 *
 * @param name the subject
 * @param kind what one operation is
 * @param bytes of the message's one field
 */
public record GrpcProtobuf(String name, GrpcTransport transport, Kind kind, int bytes) implements Sides {
    private static final String SERVICE = "dev.rackcall.perf.Protobuf";
    private static final int STREAMED = 1_000;
    private static final MethodDescriptor<BytesValue, BytesValue> ECHO = method("Echo", MethodType.UNARY);
    private static final MethodDescriptor<BytesValue, BytesValue> CHAT = method("Chat", MethodType.BIDI_STREAMING);
    private static final MethodDescriptor<BytesValue, BytesValue> LIST = method("List", MethodType.SERVER_STREAMING);

    /** What one operation is. */
    public enum Kind {
        /** A unary call. */
        UNARY("unary protobuf"),
        /** A message each way, on one stream. */
        CHAT("protobuf ping-pong on one stream"),
        /** A thousand messages from the server. */
        STREAM("1,000 streamed protobuf messages an operation");

        private final String words;

        Kind(String words) {
            this.words = words;
        }
    }

    private static MethodDescriptor<BytesValue, BytesValue> method(String name, MethodType type) {
        MethodDescriptor.Marshaller<BytesValue> marshaller = ProtoUtils.marshaller(BytesValue.getDefaultInstance());
        return MethodDescriptor.newBuilder(marshaller, marshaller)
                .setType(type)
                .setFullMethodName(MethodDescriptor.generateFullMethodName(SERVICE, name))
                .build();
    }

    /** The subjects of the target {@code grpc}. */
    public static List<Subject> subjects() {
        return List.of(
                subject("grpc-rackcall-64", GrpcTransport.RACKCALL, Kind.UNARY, 64),
                subject("grpc-inproc-proto-64", GrpcTransport.IN_PROCESS, Kind.UNARY, 64),
                subject("grpc-uds-64", GrpcTransport.UNIX_SOCKET, Kind.UNARY, 64),
                subject("grpc-rackcall-bidi", GrpcTransport.RACKCALL, Kind.CHAT, 64),
                subject("grpc-inproc-bidi", GrpcTransport.IN_PROCESS, Kind.CHAT, 64),
                subject("grpc-rackcall-1048576", GrpcTransport.RACKCALL, Kind.UNARY, 1 << 20),
                subject("grpc-uds-proto-1048576", GrpcTransport.UNIX_SOCKET, Kind.UNARY, 1 << 20),
                subject("grpc-rackcall-stream", GrpcTransport.RACKCALL, Kind.STREAM, 64),
                subject("grpc-inproc-stream", GrpcTransport.IN_PROCESS, Kind.STREAM, 64));
    }

    private static Subject subject(String name, GrpcTransport transport, Kind kind, int bytes) {
        GrpcProtobuf sides = new GrpcProtobuf(name, transport, kind, bytes);
        String settings = transport.settings(kind.words);
        Subject subject = transport == GrpcTransport.IN_PROCESS
                ? Subject.of(name, bytes, settings, sides, Subject.Trait.ONE_PROCESS)
                : Subject.of(name, bytes, settings, sides);
        return subject.in(BenchTarget.GRPC, "grpc", "").withFlags(GrpcCall.FLAGS);
    }

    @Override
    public ServerSide serve(Path directory) throws IOException {
        return transport.serve(
                directory,
                ServerServiceDefinition.builder(SERVICE)
                        .addMethod(ECHO, ServerCalls.asyncUnaryCall((request, replies) -> {
                            replies.onNext(request);
                            replies.onCompleted();
                        }))
                        .addMethod(CHAT, ServerCalls.asyncBidiStreamingCall(GrpcProtobuf::echo))
                        .addMethod(LIST, ServerCalls.asyncServerStreamingCall((request, replies) -> {
                            for (int i = 0; i < STREAMED; i++) {
                                replies.onNext(request);
                            }
                            replies.onCompleted();
                        }))
                        .build());
    }

    private static StreamObserver<BytesValue> echo(StreamObserver<BytesValue> replies) {
        return new StreamObserver<>() {
            @Override
            public void onNext(BytesValue value) {
                replies.onNext(value);
            }

            @Override
            public void onError(Throwable failure) {
                // The client has ended.
            }

            @Override
            public void onCompleted() {
                replies.onCompleted();
            }
        };
    }

    @Override
    public ClientSide connect(Path directory) throws IOException {
        return new Client(this, transport.channel(directory).directExecutor().build());
    }

    private static final class Client implements ClientSide {
        private final GrpcProtobuf call;
        private final ManagedChannel channel;
        private final byte[] payload;
        private final BlockingQueue<BytesValue> replies = new LinkedBlockingQueue<>();
        private StreamObserver<BytesValue> chat;

        Client(GrpcProtobuf call, ManagedChannel channel) {
            this.call = call;
            this.channel = channel;
            this.payload = Payload.of(call.bytes);
        }

        @Override
        public void call(long sequence) throws InterruptedException {
            Payload.mark(payload, sequence);
            BytesValue request = BytesValue.of(ByteString.copyFrom(payload));
            BytesValue reply = switch (call.kind) {
                case UNARY -> ClientCalls.blockingUnaryCall(channel, ECHO, CallOptions.DEFAULT, request);
                case CHAT -> chat(request);
                case STREAM -> list(request);
            };
            Payload.check(call.name, reply.getValue().toByteArray(), call.bytes, sequence);
        }

        private BytesValue chat(BytesValue request) throws InterruptedException {
            if (chat == null) {
                chat = ClientCalls.asyncBidiStreamingCall(
                        channel.newCall(CHAT, CallOptions.DEFAULT), new StreamObserver<>() {
                            @Override
                            public void onNext(BytesValue value) {
                                replies.add(value);
                            }

                            @Override
                            public void onError(Throwable failure) {
                                replies.add(BytesValue.getDefaultInstance());
                            }

                            @Override
                            public void onCompleted() {
                                replies.add(BytesValue.getDefaultInstance());
                            }
                        });
            }
            chat.onNext(request);
            BytesValue reply = replies.poll(CALL_BOUND_NANOS, TimeUnit.NANOSECONDS);
            return reply == null ? BytesValue.getDefaultInstance() : reply;
        }

        private BytesValue list(BytesValue request) {
            Iterator<BytesValue> messages =
                    ClientCalls.blockingServerStreamingCall(channel, LIST, CallOptions.DEFAULT, request);
            BytesValue last = BytesValue.getDefaultInstance();
            int count = 0;
            while (messages.hasNext()) {
                last = messages.next();
                count++;
            }
            return count == STREAMED ? last : BytesValue.getDefaultInstance();
        }

        @Override
        public void close() {
            channel.shutdownNow();
        }
    }
}
