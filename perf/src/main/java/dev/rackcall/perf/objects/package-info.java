/**
 * What shared objects cost beside plain Java objects and JSON: writing, reading in place, bytes and heap. {@link
 * dev.rackcall.perf.objects.ObjectsTarget} measures all subjects in turns in one thread; {@code DocumentSubjects} has
 * the documents and {@code RecordSubjects} the small objects.
 */
package dev.rackcall.perf.objects;
