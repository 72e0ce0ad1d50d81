package dev.rackcall.verbs;

/**
 * A way to another port, for queue pairs that are not connected (UD, DC). Belongs to the protection domain that made it; work requests
 * that name it must have completed before it is closed.
 */
public interface AddressHandle extends AutoCloseable {
    /** Where it leads. */
    AddressVector vector();

    @Override
    void close();
}
