package dev.rackcall.perf.peers;

import dev.rackcall.perf.calls.BenchTransport;
import dev.rackcall.perf.harness.ClientSide;
import dev.rackcall.perf.harness.Payload;
import dev.rackcall.perf.harness.Pipeline;
import dev.rackcall.perf.harness.ServerSide;
import dev.rackcall.perf.harness.Sides;
import dev.rackcall.perf.harness.Subject;
import dev.rackcall.perf.result.BenchTarget;
import io.grpc.CallOptions;
import io.grpc.ManagedChannel;
import io.grpc.MethodDescriptor;
import io.grpc.stub.ClientCalls;
import io.grpc.stub.StreamObserver;
import java.io.IOException;
import java.nio.file.Path;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.LongConsumer;

/**
 * A unary call through grpc-java that returns its argument.
 *
 * @param name the subject
 * @param bytes of the argument
 */
public record GrpcCall(String name, GrpcTransport transport, int bytes) implements Sides {
    private static final MethodDescriptor<byte[], byte[]> ECHO = MethodDescriptor.<byte[], byte[]>newBuilder()
            .setType(MethodDescriptor.MethodType.UNARY)
            .setFullMethodName(MethodDescriptor.generateFullMethodName("dev.rackcall.perf.Echo", "echo"))
            .setRequestMarshaller(new BytesMarshaller())
            .setResponseMarshaller(new BytesMarshaller())
            .build();
    /** Netty warns about a socket option that gRPC sets and Unix sockets do not have. */
    public static final List<String> FLAGS = List.of("-Dorg.slf4j.simpleLogger.log.io.grpc.netty.shaded=error");

    /** A subject of the target {@code rtt}; with the smallest payload also of throughput and connections. */
    public static Subject subject(String name, GrpcTransport transport, int bytes) {
        Set<Subject.Trait> traits = EnumSet.noneOf(Subject.Trait.class);
        if (transport == GrpcTransport.IN_PROCESS) {
            traits.add(Subject.Trait.ONE_PROCESS);
        }
        if (bytes == 64) {
            traits.add(Subject.Trait.PIPELINES);
        }
        if (bytes == 64 && transport != GrpcTransport.IN_PROCESS) {
            traits.add(Subject.Trait.MANY_CONNECTIONS);
        }
        return Subject.of(
                        name,
                        bytes,
                        transport.settings(),
                        new GrpcCall(name, transport, bytes),
                        traits.toArray(Subject.Trait[]::new))
                .withFlags(FLAGS);
    }

    /** A subject over TCP that takes turns with a call over RDMA. */
    public static Subject beside(String name, String call, int bytes) {
        GrpcCall sides = new GrpcCall(name, GrpcTransport.TCP, bytes);
        return Subject.of(name, bytes, GrpcTransport.TCP.settings(), sides, Subject.Trait.TAKES_TURNS)
                .in(BenchTarget.RDMA, BenchTransport.RDMA_GROUP, call)
                .withFlags(FLAGS);
    }

    @Override
    public ServerSide serve(Path directory) throws IOException {
        return transport.serve(directory, ECHO, request -> request);
    }

    @Override
    public ClientSide connect(Path directory) throws IOException {
        return new Client(
                name, bytes, transport.channel(directory).directExecutor().build());
    }

    private static final class Client implements ClientSide {
        private final String name;
        private final int bytes;
        private final ManagedChannel channel;
        private final byte[] payload;

        Client(String name, int bytes, ManagedChannel channel) {
            this.name = name;
            this.bytes = bytes;
            this.channel = channel;
            this.payload = Payload.of(bytes);
        }

        @Override
        public void call(long sequence) {
            Payload.mark(payload, sequence);
            // No deadline here: gRPC would pay for a timer per call. The coordinator bounds the run.
            byte[] reply = ClientCalls.blockingUnaryCall(channel, ECHO, CallOptions.DEFAULT, payload);
            Payload.check(name, reply, bytes, sequence);
        }

        @Override
        public Pipeline pipeline(int depth) {
            return new Calls(this, new LinkedBlockingQueue<>());
        }

        @Override
        public void close() {
            channel.shutdownNow();
        }
    }

    /** The calling thread sleeps while no reply has arrived, so that it takes no core from the event loops. */
    private record Calls(Client client, LinkedBlockingQueue<Reply> replies) implements Pipeline {
        @Override
        public boolean offer(long sequence) {
            byte[] request = client.payload.clone();
            Payload.mark(request, sequence);
            ClientCalls.asyncUnaryCall(
                    client.channel.newCall(ECHO, CallOptions.DEFAULT), request, new Reply(sequence, replies));
            return true;
        }

        @Override
        public int poll(LongConsumer done) throws InterruptedException {
            Reply reply = replies.poll(1, TimeUnit.MILLISECONDS);
            int taken = 0;
            while (reply != null) {
                Payload.check(client.name, reply.value(), client.bytes, reply.sequence);
                done.accept(reply.sequence);
                taken++;
                reply = replies.poll();
            }
            return taken;
        }
    }

    private static final class Reply implements StreamObserver<byte[]> {
        private final long sequence;
        private final LinkedBlockingQueue<Reply> done;
        private byte[] value = {};
        private Throwable failure;

        Reply(long sequence, LinkedBlockingQueue<Reply> done) {
            this.sequence = sequence;
            this.done = done;
        }

        byte[] value() {
            if (failure != null) {
                throw new IllegalStateException("call " + sequence + " failed", failure);
            }
            return value;
        }

        @Override
        public void onNext(byte[] reply) {
            value = reply;
        }

        @Override
        public void onError(Throwable cause) {
            failure = cause;
            done.add(this);
        }

        @Override
        public void onCompleted() {
            done.add(this);
        }
    }
}
