package dev.rackcall.samples.grpc;

import static org.assertj.core.api.Assertions.assertThat;

import dev.rackcall.samples.grpc.helloworld.HelloWorldClient;
import dev.rackcall.samples.grpc.helloworld.HelloWorldServer;
import dev.rackcall.samples.grpc.routeguide.RouteGuideClient;
import dev.rackcall.samples.grpc.routeguide.RouteGuideServer;
import dev.rackcall.samples.grpc.routeguide.proto.Point;
import dev.rackcall.samples.grpc.routeguide.proto.RouteNote;
import dev.rackcall.samples.grpc.routeguide.proto.RouteSummary;
import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.ClientCall;
import io.grpc.ClientInterceptor;
import io.grpc.ClientInterceptors;
import io.grpc.ManagedChannel;
import io.grpc.MethodDescriptor;
import io.grpc.Server;
import java.io.IOException;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class SamplesTest {
    /** The five seconds that the samples give a call are too few for a JVM that starts on a busy machine. */
    private static final ClientInterceptor PATIENCE = new ClientInterceptor() {
        @Override
        public <Q, A> ClientCall<Q, A> interceptCall(MethodDescriptor<Q, A> method, CallOptions given, Channel next) {
            return next.newCall(method, given.withDeadlineAfter(100, TimeUnit.SECONDS));
        }
    };

    @Test
    void shouldGreet() throws IOException {
        Server server = HelloWorldServer.start();
        ManagedChannel channel = HelloWorldClient.open();
        try {
            Channel patient = ClientInterceptors.intercept(channel, PATIENCE);
            assertThat(HelloWorldClient.greet(patient, "Ada")).isEqualTo("Hello Ada");
        } finally {
            channel.shutdownNow();
            server.shutdownNow();
        }
    }

    @Test
    void shouldGuideByAllFourKindsOfCalls() throws IOException {
        Server server = RouteGuideServer.start();
        ManagedChannel channel = RouteGuideClient.open();
        try {
            RouteGuideClient client = new RouteGuideClient(ClientInterceptors.intercept(channel, PATIENCE));
            assertThat(client.nameAt(51.1789, -1.8262)).isEqualTo("Stonehenge");
            assertThat(client.nameAt(0, 0)).isEmpty();
            assertThat(client.namesIn(51.3, -0.5, 51.7, 0.3)).containsExactly("Greenwich observatory", "Kew gardens");

            Point degree = Point.newBuilder().setLatitude(10_000_000).build();
            RouteSummary summary = client.record(List.of(Point.getDefaultInstance(), degree));
            assertThat(summary.getPointCount()).isEqualTo(2);
            assertThat(summary.getFeatureCount()).isZero();
            assertThat(summary.getDistance())
                    .as("a degree of latitude, in metres")
                    .isBetween(111_000, 111_400);

            List<RouteNote> notes = List.of(note(degree, "one"), note(degree, "two"), note(degree, "three"));
            assertThat(client.leave(notes)).extracting(RouteNote::getMessage).containsExactly("one", "one", "two");
        } finally {
            channel.shutdownNow();
            server.shutdownNow();
        }
    }

    private static RouteNote note(Point point, String message) {
        return RouteNote.newBuilder().setLocation(point).setMessage(message).build();
    }
}
