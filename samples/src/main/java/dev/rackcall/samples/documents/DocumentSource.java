package dev.rackcall.samples.documents;

import java.io.Closeable;
import java.io.IOException;
import java.util.Optional;

/** Documents, one after the other. Used by one thread. */
public interface DocumentSource extends Closeable {
    /** The next document; empty when there are no more. */
    Optional<JsonDocument> next() throws IOException;

    @Override
    default void close() throws IOException {}
}
