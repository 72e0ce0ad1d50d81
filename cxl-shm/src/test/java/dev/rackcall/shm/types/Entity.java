package dev.rackcall.shm.types;

public interface Entity {
    long id();

    Entity id(long value);
}
