package dev.rackcall.soak;

import dev.rackcall.grpc.RackcallChannelBuilder;
import dev.rackcall.soak.SoakClient.SoakCaller;
import dev.rackcall.soak.SoakClient.SoakConnection;
import dev.rackcall.testkit.Await;
import io.grpc.CallOptions;
import io.grpc.ManagedChannel;
import io.grpc.MethodDescriptor;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.stub.ClientCalls;
import io.grpc.stub.StreamObserver;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Iterator;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;

/** A channel of grpc-java to a {@link GrpcSoakServer}. */
final class GrpcSoakConnection implements SoakConnection {
    static final int MOST_BYTES = 60_000;

    private static final int MOST_MESSAGES = 100;
    private static final int MOST_MILLIS = 20;
    private static final long PATIENT_SECONDS = 30;

    private final boolean serverDies;
    private final ExecutorService callbacks = Executors.newSingleThreadExecutor();
    private final ManagedChannel channel;

    GrpcSoakConnection(String name, boolean serverDies) {
        this.serverDies = serverDies;
        channel = RackcallChannelBuilder.forChannel(name).executor(callbacks).build();
    }

    @Override
    public SoakCaller caller(long seed) {
        return new Caller(new Random(seed));
    }

    @Override
    public void check() {
        // An idle connection has nothing that the process does not show.
    }

    @Override
    public void close() {
        channel.shutdown();
        try {
            if (!channel.awaitTermination(Await.BOUND.toSeconds(), TimeUnit.SECONDS)) {
                throw new AssertionError("the channel did not end within " + Await.BOUND);
            }
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
        callbacks.shutdown();
    }

    private final class Caller implements SoakCaller {
        private final Random random;
        private long answered;

        Caller(Random random) {
            this.random = random;
        }

        @Override
        public void call() throws InterruptedException {
            byte[] value = new byte[1 + random.nextInt(MOST_BYTES)];
            random.nextBytes(value);
            try {
                switch (random.nextInt(5)) {
                    case 0 ->
                        check(Arrays.equals(
                                ClientCalls.blockingUnaryCall(channel, GrpcSoakServer.ECHO, options(), value), value));
                    case 1 -> cancel(value);
                    case 2 -> repeat(value);
                    case 3 -> {
                        List<byte[]> answers = send(GrpcSoakServer.LENGTH, value);
                        check(ByteBuffer.wrap(answers.getFirst()).getInt() == messages(value) * value.length);
                    }
                    default -> {
                        List<byte[]> answers = send(GrpcSoakServer.CHAT, value);
                        check(answers.size() == messages(value));
                        answers.forEach(each -> check(Arrays.equals(each, value)));
                    }
                }
                answered++;
            } catch (StatusRuntimeException e) {
                judge(e);
            }
        }

        private CallOptions options() {
            CallOptions options = serverDies ? CallOptions.DEFAULT : CallOptions.DEFAULT.withWaitForReady();
            return random.nextInt(4) == 0
                    ? options.withDeadlineAfter(1 + random.nextInt(MOST_MILLIS), TimeUnit.MILLISECONDS)
                    : options.withDeadlineAfter(PATIENT_SECONDS, TimeUnit.SECONDS);
        }

        private void cancel(byte[] value) throws InterruptedException {
            var future = ClientCalls.futureUnaryCall(channel.newCall(GrpcSoakServer.ECHO, options()), value);
            if (random.nextBoolean()) {
                future.cancel(true);
                return;
            }
            try {
                check(Arrays.equals(future.get(), value));
            } catch (ExecutionException e) {
                throw (StatusRuntimeException) e.getCause();
            }
        }

        private void repeat(byte[] value) {
            Iterator<byte[]> answers =
                    ClientCalls.blockingServerStreamingCall(channel, GrpcSoakServer.REPEAT, options(), value);
            int count = 0;
            while (answers.hasNext()) {
                check(Arrays.equals(answers.next(), value));
                count++;
            }
            check(count == GrpcSoakServer.repetitions(value));
        }

        private int messages(byte[] value) {
            return GrpcSoakServer.repetitions(value) % MOST_MESSAGES;
        }

        private List<byte[]> send(MethodDescriptor<byte[], byte[]> method, byte[] value) throws InterruptedException {
            CompletableFuture<List<byte[]>> all = new CompletableFuture<>();
            List<byte[]> answers = new ArrayList<>();
            StreamObserver<byte[]> observer = new StreamObserver<>() {
                @Override
                public void onNext(byte[] answer) {
                    answers.add(answer);
                }

                @Override
                public void onError(Throwable failure) {
                    all.completeExceptionally(failure);
                }

                @Override
                public void onCompleted() {
                    all.complete(answers);
                }
            };
            var call = channel.newCall(method, options());
            StreamObserver<byte[]> requests = method == GrpcSoakServer.CHAT
                    ? ClientCalls.asyncBidiStreamingCall(call, observer)
                    : ClientCalls.asyncClientStreamingCall(call, observer);
            for (int i = 0; i < messages(value); i++) {
                requests.onNext(value);
            }
            requests.onCompleted();
            try {
                return all.get();
            } catch (ExecutionException e) {
                throw (StatusRuntimeException) e.getCause();
            }
        }

        private void check(boolean right) {
            if (!right) {
                throw new AssertionError("what came back by gRPC is not what was asked for");
            }
        }

        private void judge(StatusRuntimeException end) {
            Status.Code code = end.getStatus().getCode();
            boolean expected = code == Status.Code.DEADLINE_EXCEEDED
                    || code == Status.Code.CANCELLED
                    || (serverDies && code == Status.Code.UNAVAILABLE);
            if (!expected) {
                throw new AssertionError("a call by gRPC ended as none may: " + end, end);
            }
        }

        @Override
        public void end() {
            // Each call has ended before the next one, or was cancelled.
        }

        @Override
        public long answered() {
            return answered;
        }
    }
}
