package dev.rackcall.cli.top;

import dev.rackcall.grpc.RackcallChannelBuilder;
import dev.rackcall.grpc.RackcallServerBuilder;
import dev.rackcall.grpc.RackcallSocketAddress;
import io.grpc.CallOptions;
import io.grpc.ManagedChannel;
import io.grpc.MethodDescriptor;
import io.grpc.Server;
import io.grpc.ServerServiceDefinition;
import io.grpc.StatusRuntimeException;
import io.grpc.stub.ClientCalls;
import io.grpc.stub.ServerCalls;
import io.grpc.stub.StreamObserver;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.URI;

/**
 * A process with gRPC over Rackcall. {@code serve CHANNEL [ADDRESS]} prints its addresses and then "serving"; {@code call
 * TARGET} begins four calls that never end, calls in turn until it is killed or a call fails, and prints "calling" after the
 * first one.
 */
public final class TopGrpcChild {
    /** With so many in flight, a few samples suffice for a mean. */
    static final int HELD = 4;

    private static final MethodDescriptor<byte[], byte[]> ECHO = method("Echo");
    private static final MethodDescriptor<byte[], byte[]> HOLD = method("Hold");

    private TopGrpcChild() {}

    private static MethodDescriptor<byte[], byte[]> method(String name) {
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
                .setType(MethodDescriptor.MethodType.UNARY)
                .setFullMethodName("test.Bytes/" + name)
                .build();
    }

    /** The program. */
    public static void main(String[] arguments) throws Exception {
        if (arguments[0].equals("serve")) {
            serve(arguments);
        } else {
            call(RackcallChannelBuilder.forTarget(arguments[1]).build());
        }
    }

    private static void serve(String[] arguments) throws IOException, InterruptedException {
        RackcallServerBuilder builder = RackcallServerBuilder.forChannel(arguments[1]);
        if (arguments.length > 2) {
            builder.listen(URI.create(arguments[2]));
        }
        Server server = builder.addService(ServerServiceDefinition.builder("test.Bytes")
                        .addMethod(ECHO, ServerCalls.asyncUnaryCall((request, answer) -> {
                            answer.onNext(request);
                            answer.onCompleted();
                        }))
                        .addMethod(HOLD, ServerCalls.asyncUnaryCall((_, _) -> {}))
                        .build())
                .build()
                .start();
        server.getListenSockets().stream()
                .map(RackcallSocketAddress.class::cast)
                .flatMap(each -> each.remote().stream())
                .forEach(System.out::println);
        System.out.println("serving");
        server.awaitTermination();
    }

    private static void call(ManagedChannel channel) {
        try {
            for (int i = 0; i < HELD; i++) {
                ClientCalls.asyncUnaryCall(channel.newCall(HOLD, CallOptions.DEFAULT), new byte[1], new Unheard());
            }
            ClientCalls.blockingUnaryCall(channel, ECHO, CallOptions.DEFAULT, new byte[8]);
            System.out.println("calling");
            while (true) {
                ClientCalls.blockingUnaryCall(channel, ECHO, CallOptions.DEFAULT, new byte[8]);
            }
        } catch (StatusRuntimeException e) {
            System.out.println("failed " + e.getStatus());
        }
    }

    /** Takes no answer. */
    private static final class Unheard implements StreamObserver<byte[]> {
        @Override
        public void onNext(byte[] value) {}

        @Override
        public void onError(Throwable failure) {}

        @Override
        public void onCompleted() {}
    }
}
