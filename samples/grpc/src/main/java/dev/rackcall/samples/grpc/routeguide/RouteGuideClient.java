package dev.rackcall.samples.grpc.routeguide;

import dev.rackcall.samples.grpc.routeguide.proto.Point;
import dev.rackcall.samples.grpc.routeguide.proto.Rectangle;
import dev.rackcall.samples.grpc.routeguide.proto.RouteGuideGrpc;
import dev.rackcall.samples.grpc.routeguide.proto.RouteNote;
import dev.rackcall.samples.grpc.routeguide.proto.RouteSummary;
import io.grpc.Channel;
import io.grpc.Grpc;
import io.grpc.InsecureChannelCredentials;
import io.grpc.ManagedChannel;
import io.grpc.stub.StreamObserver;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/** Asks for places, records a route, and leaves notes for other travellers: a call of each kind. */
public final class RouteGuideClient {
    private final Channel channel;

    /** Makes a client that calls by {@code channel}, which stays the caller's. */
    public RouteGuideClient(Channel channel) {
        this.channel = channel;
    }

    /** Returns a channel to the server of {@link RouteGuideServer}; the caller shuts it down. */
    public static ManagedChannel open() {
        // Before: "localhost:8980"
        return Grpc.newChannelBuilder("rackcall:///samples/routeguide", InsecureChannelCredentials.create())
                .build();
    }

    /** One request, one answer: the name of the feature at a point, empty if there is none. */
    public String nameAt(double latitude, double longitude) {
        return RouteGuideGrpc.newBlockingStub(channel)
                .withDeadlineAfter(5, TimeUnit.SECONDS)
                .getFeature(Places.point(latitude, longitude))
                .getName();
    }

    /** One request, a stream of answers: the names of the features in a rectangle of degrees. */
    public List<String> namesIn(double south, double west, double north, double east) {
        Rectangle area = Rectangle.newBuilder()
                .setLo(Places.point(south, west))
                .setHi(Places.point(north, east))
                .build();
        List<String> names = new ArrayList<>();
        RouteGuideGrpc.newBlockingStub(channel)
                .withDeadlineAfter(5, TimeUnit.SECONDS)
                .listFeatures(area)
                .forEachRemaining(feature -> names.add(feature.getName()));
        return names;
    }

    /** A stream of requests, one answer: the summary of a route. */
    public RouteSummary record(List<Point> route) {
        return send(route, RouteGuideGrpc.RouteGuideStub::recordRoute).getFirst();
    }

    /** Streams in both directions: leaves notes and returns those that others had left at the same points. */
    public List<RouteNote> leave(List<RouteNote> notes) {
        return send(notes, RouteGuideGrpc.RouteGuideStub::routeChat);
    }

    /** Sends {@code requests} by an asynchronous stub and waits for all answers. */
    private <Q, A> List<A> send(List<Q> requests, StreamingCall<Q, A> call) {
        Collector<A> answers = new Collector<>();
        StreamObserver<Q> stream =
                call.start(RouteGuideGrpc.newStub(channel).withDeadlineAfter(5, TimeUnit.SECONDS), answers);
        requests.forEach(stream::onNext);
        stream.onCompleted();
        return answers.all.join();
    }

    @FunctionalInterface
    private interface StreamingCall<Q, A> {
        StreamObserver<Q> start(RouteGuideGrpc.RouteGuideStub stub, StreamObserver<A> answers);
    }

    private static final class Collector<A> implements StreamObserver<A> {
        final CompletableFuture<List<A>> all = new CompletableFuture<>();
        private final List<A> answers = new ArrayList<>();

        @Override
        public void onNext(A answer) {
            answers.add(answer);
        }

        @Override
        public void onError(Throwable cause) {
            all.completeExceptionally(cause);
        }

        @Override
        public void onCompleted() {
            all.complete(answers);
        }
    }

    static void main(String[] args) {
        ManagedChannel channel = open();
        try {
            RouteGuideClient client = new RouteGuideClient(channel);
            System.out.println("at 51.1789, -1.8262: " + client.nameAt(51.1789, -1.8262));
            System.out.println("around London: " + client.namesIn(51.3, -0.5, 51.7, 0.3));
            RouteSummary summary =
                    client.record(List.of(Places.point(51.4769, -0.0005), Places.point(51.4787, -0.2956)));
            System.out.printf(
                    "a route of %d points and %d m passes %d features%n",
                    summary.getPointCount(), summary.getDistance(), summary.getFeatureCount());
            RouteNote note = RouteNote.newBuilder()
                    .setLocation(Places.point(51.1789, -1.8262))
                    .setMessage("bring an umbrella")
                    .build();
            client.leave(List.of(note, note)).forEach(left -> System.out.println("a note: " + left.getMessage()));
        } finally {
            channel.shutdown();
        }
    }
}
