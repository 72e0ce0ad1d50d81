package dev.rackcall.samples.documents;

import dev.rackcall.shm.types.Inline;
import dev.rackcall.shm.types.Shared;
import dev.rackcall.shm.types.SharedArray;
import dev.rackcall.shm.types.SharedType;

/** One document: its number, which its author chose, and its content. */
@Shared
public interface Document {
    /** The type, looked up once. */
    SharedType<Document> TYPE = SharedType.of(Document.class);

    SharedType<Batch> BATCH = SharedType.of(Batch.class);

    long number();

    Document number(long value);

    @Inline
    JsonValue content();

    /** Documents that were built in one scope and are handed over together. */
    @Shared
    interface Batch {
        SharedArray<Document> documents();

        Batch documents(SharedArray<Document> value);
    }
}
