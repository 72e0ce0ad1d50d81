package dev.rackcall.rpc;

/** Learns how many bytes a call passes. Its method must not block or throw. */
@FunctionalInterface
public interface ByteObserver {
    /**
     * Reports a part of the call: the arguments, the result, both together, or an element of a stream. Called on the
     * thread that encodes or decodes that part, so by several threads at once if the call both sends and returns a
     * stream. Elements of a returned stream may be decoded after the call has ended.
     *
     * @param copied bytes that one end encodes and the other decodes, Refs included, without headers, trailers and the
     *     stores of a handler that writes shared arguments
     * @param byPointer bytes of the scopes that hold the shared arguments, in whole pages: the most that the handler
     *     can reach through these arguments. Each scope counts once per call. Results do not count, nor do arguments
     *     that were attached without their scope, nor objects that a {@link dev.rackcall.shm.Ref} in a value leads to
     */
    void onBytes(long copied, long byPointer);
}
