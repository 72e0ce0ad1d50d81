package dev.rackcall.samples.documents;

/** A line that holds no document: its number, from 1, and why. */
public record BadLine(long number, String reason) {}
