/**
 * Shared types: interfaces, strings, arrays, lists and maps with objects that lie in a scope and are passed by Ref. A
 * flyweight is a small Java object that reads and writes one such object in place; generated flyweights extend {@link
 * dev.rackcall.shm.types.SharedRecord}. Start with {@link dev.rackcall.shm.types.Shared}, then {@link
 * dev.rackcall.shm.types.SharedType}.
 */
package dev.rackcall.shm.types;
