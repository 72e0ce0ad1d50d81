package dev.rackcall.samples.demo;

import dev.rackcall.samples.documents.BadLine;
import dev.rackcall.samples.documents.JsonDocument;
import dev.rackcall.samples.documents.JsonLines;
import dev.rackcall.samples.documents.NoBench;
import java.io.Closeable;
import java.io.IOException;
import java.util.Optional;
import java.util.PrimitiveIterator;
import java.util.function.Consumer;
import java.util.stream.LongStream;

/** One client's share of the documents, one after the other. */
interface Source extends Closeable {
    /** Empty when there are no more. */
    Optional<JsonDocument> next() throws IOException;

    @Override
    default void close() throws IOException {}

    /** Lines of a file, or every {@code clients}th generated document. */
    static Source open(DemoPlan.Input input, int client, int clients, Consumer<BadLine> bad) throws IOException {
        if (input.file().isEmpty()) {
            NoBench generator = NoBench.of(input.seed(), input.count());
            PrimitiveIterator.OfLong numbers = LongStream.iterate(
                            client, number -> number < input.count(), number -> number + clients)
                    .iterator();
            return () -> numbers.hasNext() ? Optional.of(generator.document(numbers.nextLong())) : Optional.empty();
        }
        JsonLines lines = JsonLines.open(input.file().get(), client, clients, bad);
        return new Source() {
            @Override
            public Optional<JsonDocument> next() throws IOException {
                return lines.next();
            }

            @Override
            public void close() throws IOException {
                lines.close();
            }
        };
    }
}
