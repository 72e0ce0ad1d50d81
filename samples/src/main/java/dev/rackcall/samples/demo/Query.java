package dev.rackcall.samples.demo;

import java.util.List;

/** One search. */
sealed interface Query {
    List<String> path();

    /** For documents that have that text. */
    record Text(List<String> path, String text) implements Query {}

    /** For documents that have a number in that range. */
    record Range(List<String> path, double low, double high) implements Query {}
}
