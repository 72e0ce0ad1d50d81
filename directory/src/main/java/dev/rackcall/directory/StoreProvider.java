package dev.rackcall.directory;

import java.net.URI;

/** Opens stores of one kind. Found by {@code ServiceLoader}. */
public interface StoreProvider {
    /** The scheme of the addresses that this provider opens, such as {@code file}. */
    String scheme();

    /**
     * Opens a session with a new lease.
     *
     * @throws dev.rackcall.directory.DirectoryException {@code INVALID} if the address is malformed, {@code
     *     UNAVAILABLE} if the store does not answer
     */
    DirectoryStore open(URI address, DirectoryOptions options);
}
