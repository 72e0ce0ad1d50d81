package dev.rackcall.shm.sample;

import dev.rackcall.shm.types.Shared;

@Shared
public interface Point {
    int x();

    Point x(int value);

    int y();

    Point y(int value);

    String label();

    Point label(String value);
}
