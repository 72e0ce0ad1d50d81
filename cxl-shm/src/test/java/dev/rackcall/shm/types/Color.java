package dev.rackcall.shm.types;

public enum Color {
    RED,
    GREEN,
    BLUE
}
