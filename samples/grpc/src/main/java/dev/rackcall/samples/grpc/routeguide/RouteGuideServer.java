package dev.rackcall.samples.grpc.routeguide;

import dev.rackcall.grpc.RackcallServerBuilder;
import dev.rackcall.samples.grpc.routeguide.proto.Feature;
import dev.rackcall.samples.grpc.routeguide.proto.Point;
import dev.rackcall.samples.grpc.routeguide.proto.Rectangle;
import dev.rackcall.samples.grpc.routeguide.proto.RouteGuideGrpc;
import dev.rackcall.samples.grpc.routeguide.proto.RouteNote;
import dev.rackcall.samples.grpc.routeguide.proto.RouteSummary;
import io.grpc.Server;
import io.grpc.Status;
import io.grpc.stub.StreamObserver;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** Knows a few places and keeps the notes that travellers leave. */
public final class RouteGuideServer {
    private RouteGuideServer() {}

    /** Returns a server that has started. */
    public static Server start() throws IOException {
        // Before: Grpc.newServerBuilderForPort(8980, InsecureServerCredentials.create())
        return RackcallServerBuilder.forChannel("/samples/routeguide")
                .addService(new RouteGuide())
                .build()
                .start();
    }

    static void main(String[] args) throws IOException, InterruptedException {
        Server server = start();
        System.out.println("serving " + server.getListenSockets());
        server.awaitTermination();
    }

    private static final class RouteGuide extends RouteGuideGrpc.RouteGuideImplBase {
        private final Map<Point, List<RouteNote>> notes = new ConcurrentHashMap<>();

        @Override
        public void getFeature(Point point, StreamObserver<Feature> answer) {
            answer.onNext(Places.at(point)
                    .orElse(Feature.newBuilder().setLocation(point).build()));
            answer.onCompleted();
        }

        @Override
        public void listFeatures(Rectangle area, StreamObserver<Feature> answers) {
            Places.in(area).forEach(answers::onNext);
            answers.onCompleted();
        }

        @Override
        public StreamObserver<Point> recordRoute(StreamObserver<RouteSummary> answer) {
            return new RouteRecorder(answer);
        }

        @Override
        public StreamObserver<RouteNote> routeChat(StreamObserver<RouteNote> answers) {
            return new StreamObserver<>() {
                @Override
                public void onNext(RouteNote note) {
                    earlierNotes(note).forEach(answers::onNext);
                }

                @Override
                public void onError(Throwable cause) {
                    answers.onError(Status.fromThrowable(cause).asException());
                }

                @Override
                public void onCompleted() {
                    answers.onCompleted();
                }
            };
        }

        /** Keeps {@code note} and returns those that were left at its point before. */
        private List<RouteNote> earlierNotes(RouteNote note) {
            List<RouteNote> here = notes.computeIfAbsent(note.getLocation(), _ -> new ArrayList<>());
            synchronized (here) {
                List<RouteNote> earlier = List.copyOf(here);
                here.add(note);
                return earlier;
            }
        }
    }

    /** Sums up the points of one route. */
    private static final class RouteRecorder implements StreamObserver<Point> {
        private final StreamObserver<RouteSummary> answer;
        private final RouteSummary.Builder summary = RouteSummary.newBuilder();
        private Point last;
        private double metres;

        RouteRecorder(StreamObserver<RouteSummary> answer) {
            this.answer = answer;
        }

        @Override
        public void onNext(Point point) {
            summary.setPointCount(summary.getPointCount() + 1);
            if (Places.at(point).isPresent()) {
                summary.setFeatureCount(summary.getFeatureCount() + 1);
            }
            if (last != null) {
                metres += Places.metres(last, point);
            }
            last = point;
        }

        @Override
        public void onError(Throwable cause) {
            answer.onError(Status.fromThrowable(cause).asException());
        }

        @Override
        public void onCompleted() {
            answer.onNext(summary.setDistance((int) Math.round(metres)).build());
            answer.onCompleted();
        }
    }
}
