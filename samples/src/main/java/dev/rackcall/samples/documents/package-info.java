/**
 * A store of JSON documents that lie in shared memory: whoever has a document passes a Ref, and nobody copies it. Start with
 * {@link dev.rackcall.samples.documents.JsonValue}, the shared type that a document is made of, and
 * {@link dev.rackcall.samples.documents.DocumentStore}, the service; {@link dev.rackcall.samples.documents.Store} keeps and finds.
 */
package dev.rackcall.samples.documents;
