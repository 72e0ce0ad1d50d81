package dev.rackcall.samples.grpc.helloworld;

import dev.rackcall.grpc.RackcallServerBuilder;
import dev.rackcall.samples.grpc.helloworld.proto.GreeterGrpc;
import dev.rackcall.samples.grpc.helloworld.proto.HelloReply;
import dev.rackcall.samples.grpc.helloworld.proto.HelloRequest;
import io.grpc.Server;
import io.grpc.stub.StreamObserver;
import java.io.IOException;

/** Greets until it is ended. */
public final class HelloWorldServer {
    private HelloWorldServer() {}

    /** Returns a server that has started. */
    public static Server start() throws IOException {
        // Before: Grpc.newServerBuilderForPort(50051, InsecureServerCredentials.create())
        return RackcallServerBuilder.forChannel("/samples/helloworld")
                .addService(new Greeter())
                .build()
                .start();
    }

    static void main(String[] args) throws IOException, InterruptedException {
        Server server = start();
        System.out.println("serving " + server.getListenSockets());
        server.awaitTermination();
    }

    static final class Greeter extends GreeterGrpc.GreeterImplBase {
        @Override
        public void sayHello(HelloRequest request, StreamObserver<HelloReply> answer) {
            answer.onNext(HelloReply.newBuilder()
                    .setMessage("Hello " + request.getName())
                    .build());
            answer.onCompleted();
        }
    }
}
