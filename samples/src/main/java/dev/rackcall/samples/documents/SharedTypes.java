package dev.rackcall.samples.documents;

import dev.rackcall.shm.types.SharedArray;
import dev.rackcall.shm.types.SharedType;

/** The shared types of this package, looked up once. */
final class SharedTypes {
    static final SharedType<JsonValue> JSON = SharedType.of(JsonValue.class);
    static final SharedType<SharedArray<JsonValue>> CHILDREN = SharedArray.typeOf(JSON);
    static final SharedType<Document> DOCUMENT = SharedType.of(Document.class);
    static final SharedType<Batch> BATCH = SharedType.of(Batch.class);

    private SharedTypes() {}
}
