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
import io.grpc.ManagedChannelBuilder;
import io.grpc.MethodDescriptor;
import io.grpc.MethodDescriptor.MethodType;
import io.grpc.ServerServiceDefinition;
import io.grpc.protobuf.ProtoUtils;
import io.grpc.stub.ClientCalls;
import io.grpc.stub.ServerCalls;
import io.grpc.stub.StreamObserver;
import java.io.IOException;
import java.nio.file.Path;
import java.util.EnumSet;
import java.util.Iterator;
import java.util.List;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

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
    private static final int CHATTED = 100;
    private static final Methods METHODS = Methods.of(ProtoUtils.marshaller(BytesValue.getDefaultInstance()));
    /** In process, gRPC's own marshaller would hand messages over as they are. */
    private static final Methods SERIALISING = Methods.of(new SerialisingMarshaller());
    /** protobuf's classes warn about the JVM's old access to memory, which they use. */
    private static final List<String> FLAGS = Stream.concat(
                    GrpcCall.FLAGS.stream(), Stream.of("--sun-misc-unsafe-memory-access=allow"))
            .toList();

    /** What one operation is. */
    public enum Kind {
        /** A unary call. */
        UNARY("direct executors, unary protobuf", 1),
        /** A unary call that gRPC's own thread pools handle. */
        POOLED("default executors, unary protobuf", 1),
        /** A message each way on one stream; the observers send the next one themselves. */
        CHAT("direct executors, protobuf ping-pong on one stream, means of " + CHATTED, CHATTED),
        /** A message of the server's. */
        STREAM("direct executors, streamed protobuf messages, means of calls with " + STREAMED, STREAMED);

        private final String words;
        /** This many operations are timed together. */
        private final int times;

        Kind(String words, int times) {
            this.words = words;
            this.times = times;
        }
    }

    private record Methods(
            MethodDescriptor<BytesValue, BytesValue> echo,
            MethodDescriptor<BytesValue, BytesValue> chat,
            MethodDescriptor<BytesValue, BytesValue> list) {
        static Methods of(MethodDescriptor.Marshaller<BytesValue> marshaller) {
            return new Methods(
                    method("Echo", MethodType.UNARY, marshaller),
                    method("Chat", MethodType.BIDI_STREAMING, marshaller),
                    method("List", MethodType.SERVER_STREAMING, marshaller));
        }

        private static MethodDescriptor<BytesValue, BytesValue> method(
                String name, MethodType type, MethodDescriptor.Marshaller<BytesValue> marshaller) {
            return MethodDescriptor.newBuilder(marshaller, marshaller)
                    .setType(type)
                    .setFullMethodName(MethodDescriptor.generateFullMethodName(SERVICE, name))
                    .build();
        }
    }

    private Methods methods() {
        return transport == GrpcTransport.IN_PROCESS ? SERIALISING : METHODS;
    }

    /** The subjects of the target {@code grpc}. */
    public static List<Subject> subjects() {
        return List.of(
                subject("grpc-rackcall-64", GrpcTransport.RACKCALL, Kind.UNARY, 64, "grpc-inproc-proto-64"),
                subject("grpc-rackcall-64-pooled", GrpcTransport.RACKCALL, Kind.POOLED, 64, ""),
                subject("grpc-inproc-proto-64", GrpcTransport.IN_PROCESS, Kind.UNARY, 64, ""),
                subject("grpc-uds-64", GrpcTransport.UNIX_SOCKET, Kind.UNARY, 64, "grpc-rackcall-64"),
                subject("grpc-rackcall-bidi", GrpcTransport.RACKCALL, Kind.CHAT, 64, "grpc-inproc-bidi"),
                subject("grpc-inproc-bidi", GrpcTransport.IN_PROCESS, Kind.CHAT, 64, ""),
                subject("grpc-rackcall-1048576", GrpcTransport.RACKCALL, Kind.UNARY, 1 << 20, ""),
                subject("grpc-uds-1048576", GrpcTransport.UNIX_SOCKET, Kind.UNARY, 1 << 20, "grpc-rackcall-1048576"),
                subject("grpc-rackcall-stream", GrpcTransport.RACKCALL, Kind.STREAM, 64, "grpc-inproc-stream"),
                subject("grpc-inproc-stream", GrpcTransport.IN_PROCESS, Kind.STREAM, 64, ""),
                idle("grpc-rackcall-idle-1000", GrpcTransport.RACKCALL));
    }

    private static Subject idle(String name, GrpcTransport transport) {
        GrpcProtobuf sides = new GrpcProtobuf(name, transport, Kind.UNARY, 64);
        return Subject.of(name, 64, transport.settings(Kind.UNARY.words), sides, Subject.Trait.IDLES)
                .in(BenchTarget.GRPC, "", "")
                .withFlags(FLAGS);
    }

    /** Subjects of one kind and size take turns, so that other work of the machine changes no ratio. */
    private static Subject subject(String name, GrpcTransport transport, Kind kind, int bytes, String floor) {
        GrpcProtobuf sides = new GrpcProtobuf(name, transport, kind, bytes);
        Set<Subject.Trait> traits = EnumSet.of(Subject.Trait.TAKES_TURNS);
        if (transport == GrpcTransport.IN_PROCESS) {
            traits.add(Subject.Trait.ONE_PROCESS);
        }
        String group = "grpc-" + (kind == Kind.POOLED ? Kind.UNARY : kind) + bytes;
        return Subject.of(name, bytes, transport.settings(kind.words), sides, traits.toArray(Subject.Trait[]::new))
                .in(BenchTarget.GRPC, group, floor)
                .repeating(kind.times)
                .withFlags(FLAGS);
    }

    @Override
    public ServerSide serve(Path directory) throws IOException {
        return transport.serve(
                directory,
                kind != Kind.POOLED,
                ServerServiceDefinition.builder(SERVICE)
                        .addMethod(methods().echo, ServerCalls.asyncUnaryCall((request, replies) -> {
                            replies.onNext(request);
                            replies.onCompleted();
                        }))
                        .addMethod(methods().chat, ServerCalls.asyncBidiStreamingCall(GrpcProtobuf::echo))
                        .addMethod(methods().list, ServerCalls.asyncServerStreamingCall((request, replies) -> {
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
        ManagedChannelBuilder<?> channel = transport.channel(directory);
        return new Client(this, (kind == Kind.POOLED ? channel : channel.directExecutor()).build());
    }

    private static final class Client implements ClientSide {
        private final GrpcProtobuf call;
        private final ManagedChannel channel;
        private final byte[] payload;
        private final BlockingQueue<BytesValue> last = new LinkedBlockingQueue<>();
        /** Messages of this operation that are still to be sent. Written before the first one, then by the observer. */
        private volatile int left;

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
                case UNARY, POOLED ->
                    ClientCalls.blockingUnaryCall(channel, call.methods().echo, CallOptions.DEFAULT, request);
                case CHAT -> chat(request);
                case STREAM -> list(request);
            };
            Payload.check(call.name, reply.getValue().toByteArray(), call.bytes, sequence);
        }

        private BytesValue chat(BytesValue request) throws InterruptedException {
            if (chat == null) {
                chat = ClientCalls.asyncBidiStreamingCall(
                        channel.newCall(call.methods().chat, CallOptions.DEFAULT), new StreamObserver<>() {
                            @Override
                            public void onNext(BytesValue value) {
                                answered(value);
                            }

                            @Override
                            public void onError(Throwable failure) {
                                last.add(BytesValue.getDefaultInstance());
                            }

                            @Override
                            public void onCompleted() {
                                last.add(BytesValue.getDefaultInstance());
                            }
                        });
            }
            left = CHATTED - 1;
            chat.onNext(request);
            BytesValue reply = last.poll(CALL_BOUND_NANOS, TimeUnit.NANOSECONDS);
            return reply == null ? BytesValue.getDefaultInstance() : reply;
        }

        @SuppressWarnings("NonAtomicVolatileUpdate") // The two threads take turns.
        private void answered(BytesValue value) {
            if (left == 0) {
                last.add(value);
            } else {
                left--;
                chat.onNext(value);
            }
        }

        private BytesValue list(BytesValue request) {
            Iterator<BytesValue> messages =
                    ClientCalls.blockingServerStreamingCall(channel, call.methods().list, CallOptions.DEFAULT, request);
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
