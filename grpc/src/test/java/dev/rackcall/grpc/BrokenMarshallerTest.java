package dev.rackcall.grpc;

import static org.assertj.core.api.Assertions.assertThat;

import dev.rackcall.testkit.Concurrently;
import io.grpc.CallOptions;
import io.grpc.ManagedChannel;
import io.grpc.MethodDescriptor;
import io.grpc.MethodDescriptor.MethodType;
import io.grpc.Server;
import io.grpc.ServerServiceDefinition;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.stub.ClientCalls;
import io.grpc.stub.ServerCalls;
import io.grpc.stub.StreamObserver;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** A marshaller that throws an {@code Error} ends its own call, even one without a deadline, and no other. */
class BrokenMarshallerTest {
    private static final String SERVICE = "test.Broken";
    private static final byte[] VALUE = {1, 2, 3};

    /** Where the marshaller throws. */
    enum Place {
        NOWHERE,
        REQUEST_STREAM,
        REQUEST_READ,
        REQUEST_PARSE,
        RESPONSE_STREAM,
        RESPONSE_READ,
        RESPONSE_PARSE
    }

    private static final class MarshallerError extends Error {
        private static final long serialVersionUID = 1L;

        MarshallerError(String message) {
            super(message);
        }
    }

    private record Bytes(Place broken, Place stream, Place read, Place parse)
            implements MethodDescriptor.Marshaller<byte[]> {
        private void reach(Place place) {
            if (place == broken) {
                throw new MarshallerError("planted in " + place);
            }
        }

        @Override
        public InputStream stream(byte[] value) {
            reach(stream);
            return new ByteArrayInputStream(value) {
                @Override
                public synchronized int read(byte[] target, int from, int count) {
                    reach(read);
                    return super.read(target, from, count);
                }
            };
        }

        @Override
        public byte[] parse(InputStream bytes) {
            reach(parse);
            try (bytes) {
                return bytes.readAllBytes();
            } catch (IOException e) {
                throw new IllegalStateException(e);
            }
        }
    }

    private static MethodDescriptor<byte[], byte[]> method(MethodType type, Place broken) {
        return MethodDescriptor.newBuilder(
                        new Bytes(broken, Place.REQUEST_STREAM, Place.REQUEST_READ, Place.REQUEST_PARSE),
                        new Bytes(broken, Place.RESPONSE_STREAM, Place.RESPONSE_READ, Place.RESPONSE_PARSE))
                .setType(type)
                .setFullMethodName(SERVICE + "/" + type + broken)
                .build();
    }

    @TempDir
    private Path directory;

    private Server server;
    private ManagedChannel channel;

    static Stream<Arguments> places() {
        return Arrays.stream(Place.values())
                .filter(place -> place != Place.NOWHERE)
                .flatMap(place -> Stream.of(true, false).map(direct -> Arguments.of(place, direct)));
    }

    @ParameterizedTest
    @MethodSource("places")
    void shouldEndTheCall(Place place, boolean direct) throws Exception {
        start(place, direct);
        MethodDescriptor<byte[], byte[]> unary = method(MethodType.UNARY, place);
        assertThat(failure(() -> ClientCalls.blockingUnaryCall(channel, unary, CallOptions.DEFAULT, VALUE)))
                .as("blocking")
                .isNotEqualTo(Status.Code.OK);
        assertThat(failure(() -> {
                    CompletableFuture<byte[]> answer = new CompletableFuture<>();
                    ClientCalls.asyncUnaryCall(channel.newCall(unary, CallOptions.DEFAULT), VALUE, completing(answer));
                    return answer.join();
                }))
                .as("asynchronous")
                .isNotEqualTo(Status.Code.OK);
        assertThat(failure(() -> {
                    CompletableFuture<byte[]> answer = new CompletableFuture<>();
                    StreamObserver<byte[]> requests = ClientCalls.asyncBidiStreamingCall(
                            channel.newCall(method(MethodType.BIDI_STREAMING, place), CallOptions.DEFAULT),
                            completing(answer));
                    requests.onNext(VALUE);
                    return answer.join();
                }))
                .as("streaming")
                .isNotEqualTo(Status.Code.OK);
        assertThat(ClientCalls.blockingUnaryCall(
                        channel,
                        method(MethodType.UNARY, Place.NOWHERE),
                        CallOptions.DEFAULT.withDeadlineAfter(100, TimeUnit.SECONDS),
                        VALUE))
                .as("the next call")
                .isEqualTo(VALUE);
    }

    /** The call's status code; the call has no deadline, so only the transport can end it. */
    private static Status.Code failure(Supplier<byte[]> call) {
        return Concurrently.get(Concurrently.start(() -> {
            try {
                byte[] answer = call.get();
                assertThat(answer).isNotNull();
                return Status.Code.OK;
            } catch (MarshallerError | RuntimeException e) {
                return Status.fromThrowable(e).getCode();
            }
        }));
    }

    private static StreamObserver<byte[]> completing(CompletableFuture<byte[]> answer) {
        return new StreamObserver<>() {
            @Override
            public void onNext(byte[] value) {
                answer.complete(value);
            }

            @Override
            public void onError(Throwable failure) {
                answer.completeExceptionally(failure);
            }

            @Override
            public void onCompleted() {
                answer.completeExceptionally(new StatusRuntimeException(Status.INTERNAL));
            }
        };
    }

    private void start(Place place, boolean direct) throws IOException {
        RackcallSocketAddress address = RackcallSocketAddress.of("/test/broken", directory);
        ServerServiceDefinition.Builder service = ServerServiceDefinition.builder(SERVICE);
        for (Place each : new Place[] {Place.NOWHERE, place}) {
            service.addMethod(method(MethodType.UNARY, each), ServerCalls.asyncUnaryCall((request, observer) -> {
                observer.onNext(request);
                observer.onCompleted();
            }));
        }
        service.addMethod(
                method(MethodType.BIDI_STREAMING, place), ServerCalls.asyncBidiStreamingCall(BytesService::chat));
        RackcallServerBuilder serverBuilder = RackcallServerBuilder.forAddress(address);
        RackcallChannelBuilder channelBuilder = RackcallChannelBuilder.forAddress(address);
        if (direct) {
            serverBuilder.directExecutor();
            channelBuilder.directExecutor();
        }
        server = serverBuilder.addService(service.build()).build().start();
        channel = channelBuilder.build();
    }

    @AfterEach
    void stop() throws InterruptedException {
        channel.shutdownNow();
        server.shutdownNow();
        assertThat(server.awaitTermination(100, TimeUnit.SECONDS)).isTrue();
    }
}
