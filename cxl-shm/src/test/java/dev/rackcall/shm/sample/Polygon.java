package dev.rackcall.shm.sample;

import dev.rackcall.shm.types.Shared;
import dev.rackcall.shm.types.SharedInlineArray;
import java.util.Optional;

@Shared
public interface Polygon {
    SharedInlineArray<Point> corners();

    Polygon corners(SharedInlineArray<Point> value);

    Optional<SharedInlineArray<Point>> hole();

    Polygon hole(Optional<SharedInlineArray<Point>> value);
}
