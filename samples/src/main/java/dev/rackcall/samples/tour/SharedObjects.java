package dev.rackcall.samples.tour;

import dev.rackcall.rpc.Rpc;
import dev.rackcall.rpc.RpcChannel;
import dev.rackcall.rpc.RpcContext;
import dev.rackcall.rpc.RpcServer;
import dev.rackcall.rpc.RpcService;
import dev.rackcall.shm.Scope;
import dev.rackcall.shm.types.Releasable;
import dev.rackcall.shm.types.Shared;
import dev.rackcall.shm.types.SharedList;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Objects in shared memory: only their Ref is sent, regardless of their size. The server reads the client's objects in
 * place, and returns its own.
 */
@RpcService("/samples/shared-objects")
public interface SharedObjects {
    /** A point of a track; the annotation processor writes the class. As a result, it can be closed. */
    @Shared
    interface Point extends Releasable {
        double x();

        Point x(double value);

        double y();

        Point y(double value);
    }

    /** A shared object refers to others: lists, maps, strings, arrays. */
    @Shared
    interface Track {
        SharedList<Point> points();

        Track points(SharedList<Point> value);
    }

    @Rpc
    Point centre(Track track);

    /** The handler. The result lies in memory that the caller releases. */
    static Point centreOf(Track track) {
        SharedList<Point> points = track.points();
        double x = 0;
        double y = 0;
        for (Point point : points) {
            x += point.x() / points.size();
            y += point.y() / points.size();
        }
        Scope reply = RpcContext.current().orElseThrow().replyScope();
        return reply.create(Point.class).x(x).y(y);
    }

    static void main(String[] args) throws IOException {
        Path folder = Files.createTempDirectory("rackcall-sample-");
        try (RpcServer _ = RpcServer.builder()
                        .runtimeFolder(folder)
                        .service(SharedObjects.class, SharedObjects::centreOf)
                        .start();
                RpcChannel channel = RpcChannel.builder("/samples/shared-objects")
                        .runtimeFolder(folder)
                        .open();
                Scope scope = channel.newScope()) { // frees all that was built in it
            SharedList<Point> points = SharedList.create(scope, Point.class);
            for (int i = 0; i < 1_000; i++) {
                points.add(scope.create(Point.class).x(i).y(2 * i));
            }
            try (Point centre = channel.stub(SharedObjects.class)
                    .centre(scope.create(Track.class).points(points))) {
                System.out.println("the centre of " + points.size() + " points is " + centre.x() + ", " + centre.y());
            }
        }
    }
}
