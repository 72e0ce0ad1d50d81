package dev.rackcall.shm.types;

import dev.rackcall.shm.Shared;

@Shared
public interface Point {
    int x();

    Point x(int value);

    int y();

    Point y(int value);

    String label();

    Point label(String value);
}
