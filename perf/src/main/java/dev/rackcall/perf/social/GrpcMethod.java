package dev.rackcall.perf.social;

import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.MethodDescriptor;
import io.grpc.ServerServiceDefinition;
import io.grpc.Status;
import io.grpc.stub.ClientCalls;
import io.grpc.stub.ServerCalls;
import io.grpc.stub.StreamObserver;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;

/** A unary method of grpc-java whose calls and handlers use futures. */
record GrpcMethod<Q, R>(MethodDescriptor<Q, R> descriptor) {
    /** The name of all services, each of which has a socket of its own. */
    static final String SERVICE = "dev.rackcall.perf.Social";

    static <Q, R> GrpcMethod<Q, R> of(String name, SocialCodec<Q> request, SocialCodec<R> reply) {
        return new GrpcMethod<>(MethodDescriptor.<Q, R>newBuilder()
                .setType(MethodDescriptor.MethodType.UNARY)
                .setFullMethodName(MethodDescriptor.generateFullMethodName(SERVICE, name))
                .setRequestMarshaller(request)
                .setResponseMarshaller(reply)
                .build());
    }

    /** A method with its handler. */
    interface Bound {
        void addTo(ServerServiceDefinition.Builder definition);
    }

    Bound to(Function<Q, CompletableFuture<R>> handler) {
        return definition -> definition.addMethod(descriptor, ServerCalls.asyncUnaryCall((request, replies) -> {
            var _ = handler.apply(request).whenComplete((reply, failure) -> {
                if (failure == null) {
                    replies.onNext(reply);
                    replies.onCompleted();
                } else {
                    replies.onError(Status.UNKNOWN.withCause(failure).asRuntimeException());
                }
            });
        }));
    }

    CompletableFuture<R> call(Channel channel, Q request) {
        CompletableFuture<R> answer = new CompletableFuture<>();
        // No deadline here: gRPC would pay for a timer per call.
        ClientCalls.asyncUnaryCall(channel.newCall(descriptor, CallOptions.DEFAULT), request, new StreamObserver<R>() {
            private R value;

            @Override
            public void onNext(R reply) {
                value = reply;
            }

            @Override
            public void onError(Throwable failure) {
                answer.completeExceptionally(failure);
            }

            @Override
            public void onCompleted() {
                answer.complete(value);
            }
        });
        return answer;
    }
}
