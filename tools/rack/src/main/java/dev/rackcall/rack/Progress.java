package dev.rackcall.rack;

/** Where the command says what it is doing. Thread-safe. */
@FunctionalInterface
interface Progress {
    void says(String sentence);
}
