package dev.rackcall.rdma.sending;

import dev.rackcall.verbs.VerbsErrno;
import dev.rackcall.verbs.VerbsException;

/**
 * Memory of the peer that this end may write and read, as the peer has said.
 *
 * @param address where it begins, as the peer names it
 * @param key what requests must show
 * @param bytes how long it is
 */
public record PeerMemory(long address, int key, long bytes) {
    /**
     * Where a part of it is.
     *
     * @throws VerbsException if it has no such part
     */
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
