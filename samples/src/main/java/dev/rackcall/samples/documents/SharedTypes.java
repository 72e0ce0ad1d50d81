package dev.rackcall.samples.documents;

import dev.rackcall.shm.types.SharedArray;
import dev.rackcall.shm.types.SharedType;

/** The shared types of this package, looked up once. */
final class SharedTypes {
    static final SharedType<Json> JSON = SharedType.of(Json.class);
    static final SharedType<SharedArray<Json>> CHILDREN = SharedArray.typeOf(JSON);
    static final SharedType<Document> DOCUMENT = SharedType.of(Document.class);
    static final SharedType<Batch> BATCH = SharedType.of(Batch.class);

    private SharedTypes() {}
}
