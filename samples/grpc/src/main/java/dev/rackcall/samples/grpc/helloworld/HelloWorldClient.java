package dev.rackcall.samples.grpc.helloworld;

import dev.rackcall.samples.grpc.helloworld.proto.GreeterGrpc;
import dev.rackcall.samples.grpc.helloworld.proto.HelloRequest;
import io.grpc.Channel;
import io.grpc.Grpc;
import io.grpc.InsecureChannelCredentials;
import io.grpc.ManagedChannel;
import io.grpc.StatusRuntimeException;
import java.util.concurrent.TimeUnit;

/** Asks the server for a greeting and prints it. */
public final class HelloWorldClient {
    private HelloWorldClient() {}

    /** Returns the server's greeting for {@code name}; fails with {@link StatusRuntimeException} if no server answers in five seconds. */
    public static String greet(Channel channel, String name) {
        return GreeterGrpc.newBlockingStub(channel)
                .withDeadlineAfter(5, TimeUnit.SECONDS)
                .sayHello(HelloRequest.newBuilder().setName(name).build())
                .getMessage();
    }

    /** Returns a channel to the server of {@link HelloWorldServer}; the caller shuts it down. */
    public static ManagedChannel open() {
        // Before: "localhost:50051"
        return Grpc.newChannelBuilder("rackcall:///samples/helloworld", InsecureChannelCredentials.create())
                .build();
    }

    static void main(String[] args) {
        ManagedChannel channel = open();
        try {
            System.out.println(greet(channel, args.length > 0 ? args[0] : "world"));
        } catch (StatusRuntimeException e) {
            System.err.println("no greeting: " + e.getStatus());
        } finally {
            channel.shutdown();
        }
    }
}
