package dev.rackcall.rpc.spi;

/** Decodes a request, calls the service and encodes its result. Generated; thread-safe. */
public interface Dispatcher {
    /**
     * Serves one call. Normal return means the result is encoded (or will be, if the call was handed to
     * {@link ServerCall#completeWith} or {@link ServerCall#streamFrom}); an exception becomes the call's status.
     *
     * @param method index into {@link ServiceDefinition#methods()}, already checked to be in range
     */
    void dispatch(int method, ServerCall call) throws Exception;
}
