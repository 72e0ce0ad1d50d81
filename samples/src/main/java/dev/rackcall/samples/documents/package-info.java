/**
 * A store of JSON documents in shared memory: clients hand documents over by Ref, and nothing is copied.
 * A document is a tree of {@link dev.rackcall.samples.documents.JsonValue}s; {@link dev.rackcall.samples.documents.DocumentStore} is the service.
 * {@link dev.rackcall.samples.documents.Store} keeps and finds documents.
 */
package dev.rackcall.samples.documents;
