package dev.rackcall.verbs;

/**
 * The address of another port, for queue pairs that are not connected (UD, DC). It belongs to the protection domain
 * that created it. Close it only after all work requests that name it have completed.
 */
public interface AddressHandle extends AutoCloseable {
    @Override
    void close();
}
