package dev.rackcall.rdma.end;

import dev.rackcall.verbs.VerbsErrno;
import dev.rackcall.verbs.VerbsException;

/**
 * The peer's memory that this end may write and read, as the peer's hello names it.
 *
 * @param address where it begins
 * @param key the remote key for requests
 * @param bytes its length
 */
public record PeerMemory(long address, int key, long bytes) {
    /** @throws VerbsException if the memory has no such part */
    public long at(long offset, long length) {
        if (offset > bytes - length) {
            throw new VerbsException(
                    "writing " + length + " bytes at " + offset,
                    VerbsErrno.EINVAL,
                    "the peer has only " + bytes + " bytes, fewer than the connection needs");
        }
        return address + offset;
    }
}
