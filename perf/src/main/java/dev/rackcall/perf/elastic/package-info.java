/**
 * The target {@code elastic}: many workers start at the same time, connect to many servers and read a key-value table
 * there by one-sided READs, over virtual queues or over fresh reliable queue pairs. Start with
 * {@link dev.rackcall.perf.elastic.ElasticSides}; {@link dev.rackcall.perf.elastic.ElasticTarget} measures.
 */
package dev.rackcall.perf.elastic;
