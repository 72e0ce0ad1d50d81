package dev.rackcall.perf.objects;

import dev.rackcall.shm.types.Shared;
import dev.rackcall.shm.types.SharedType;

/** An object of four fields. */
@Shared
interface Point {
    SharedType<Point> TYPE = SharedType.of(Point.class);

    long x();

    Point x(long value);

    long y();

    Point y(long value);

    int colour();

    Point colour(int value);

    int size();

    Point size(int value);
}
