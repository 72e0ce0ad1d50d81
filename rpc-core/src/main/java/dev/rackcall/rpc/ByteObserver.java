package dev.rackcall.rpc;

/** Learns how many bytes a call passes. Its method must not block or throw. */
@FunctionalInterface
public interface ByteObserver {
    /**
     * A part of the call has passed: the arguments with the result, or an element of a stream. Called on the thread that
     * encodes or decodes that part: several threads at once if the call both sends and returns a stream. Elements of a
     * returned stream may be decoded after the call has ended.
     *
     * @param copied bytes that one end encodes and the other decodes, Refs included, without headers and trailers
     * @param byPointer bytes of the scopes that created the shared arguments, in whole pages: at most so much can the
     *     handler reach of them. Each scope counts once per call. Not counted are arguments that were attached without
     *     their scope, results, and what a {@link dev.rackcall.shm.Ref} in a value leads to
     */
    void onBytes(long copied, long byPointer);
}
