package dev.rackcall.perf.objects;

import java.util.function.LongSupplier;

/**
 * One operation to measure. Used by one thread.
 *
 * @param name its name in the JSON
 * @param operation does it once and returns a number made of what it wrote or read, so that no work is optimised away
 * @param bytes how long what it writes or reads is; 0 if it has no length, as objects in the heap
 * @param times how many objects one operation handles
 */
record ObjectSubject(String name, LongSupplier operation, long bytes, int times) {}
