package dev.rackcall.samples.documents;

import dev.rackcall.shm.types.Shared;

/** One document: its number, which its author chose, and its content. */
@Shared
public interface Document {
    long number();

    Document number(long value);

    JsonValue content();

    Document content(JsonValue value);
}
