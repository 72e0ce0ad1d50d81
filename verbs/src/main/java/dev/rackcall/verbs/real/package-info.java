/**
 * Real RDMA devices through libibverbs: the interface of {@link dev.rackcall.verbs} over the bindings of
 * {@code dev.rackcall.verbs.ffi}. Posting and polling go through the function table in the device's context, as verbs.h
 * does inline; everything else calls the library. Return codes become exceptions here; a missing library or device is
 * reported in a sentence, not a stack trace.
 */
package dev.rackcall.verbs.real;
