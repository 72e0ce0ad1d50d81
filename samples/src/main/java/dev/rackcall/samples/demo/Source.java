package dev.rackcall.samples.demo;

import dev.rackcall.samples.documents.BadLine;
import dev.rackcall.samples.documents.JsonDocument;
import dev.rackcall.samples.documents.JsonLines;
import dev.rackcall.samples.documents.NoBench;
import java.io.IOException;
import java.util.Optional;
import java.util.function.Consumer;

/** One client's share of the documents, one after the other. */
interface Source extends AutoCloseable {
    /** Empty when there are no more. */
    Optional<JsonDocument> next() throws IOException;

    @Override
    void close() throws IOException;

    static Source open(Input input, int client, int clients, Consumer<BadLine> bad) throws IOException {
        if (input.file().isEmpty()) {
            return new Generated(input, client, clients);
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

    /** Every so manieth of the generated documents. */
    final class Generated implements Source {
        private final NoBench generator;
        private final long count;
        private final int step;
        private long next;

        private Generated(Input input, int client, int clients) {
            generator = NoBench.of(input.seed(), input.count());
            count = input.count();
            next = client;
            step = clients;
        }

        @Override
        public Optional<JsonDocument> next() {
            if (next >= count) {
                return Optional.empty();
            }
            JsonDocument document = generator.document(next);
            next += step;
            return Optional.of(document);
        }

        @Override
        public void close() {}
    }
}
