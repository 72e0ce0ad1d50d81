package dev.rackcall.samples.documents;

import dev.rackcall.shm.types.Shared;
import dev.rackcall.shm.types.SharedArray;

/** Documents that were built in one scope and are handed over together. */
@Shared
public interface Batch {
    SharedArray<Document> documents();

    Batch documents(SharedArray<Document> value);
}
