package dev.rackcall.shm.sample;

public enum Color {
    RED,
    GREEN,
    BLUE
}
