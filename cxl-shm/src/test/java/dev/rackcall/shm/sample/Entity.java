package dev.rackcall.shm.sample;

public interface Entity {
    long id();

    Entity id(long value);
}
