package dev.rackcall.rdma.end;

import dev.rackcall.verbs.MemoryRegion;
import dev.rackcall.verbs.WorkRequest;

/**
 * Requests that move parts of a connection's memory, in pieces that devices accept. Used under the lock of its {@link
 * MirrorCarrier}.
 */
public final class MemoryRequests implements Shadow.Pieces {
    private static final int MAX_PIECE = 1 << 20;

    private final PendingRequests out;
    private final long bytes;
    /** Null until it is known. */
    private PeerMemory peer;
    /** The shadow's copy, from which changed pieces are sent. Null until there is one. */
    private MemoryRegion copy;

    /** @param bytes of the connection's memory at this end */
    MemoryRequests(PendingRequests out, long bytes) {
        this.out = out;
        this.bytes = bytes;
    }

    /** Where to write from now on. */
    void aim(PeerMemory target) {
        peer = target;
    }

    void carryFrom(MemoryRegion shadowCopy) {
        copy = shadowCopy;
    }

    /** Whether the peer is known. */
    public boolean areAimed() {
        return peer != null;
    }

    /** The request to be added next: a WRITE to this part. */
    public WorkRequest write(long offset, long length) {
        return out.next().write(at(offset, length), peer.key());
    }

    /** The same for one word, with a completion at the peer. */
    public WorkRequest announce(long offset, long word) {
        return out.next()
                .writeWithImmediate(at(offset, Long.BYTES), peer.key(), 0)
                .inline(word);
    }

    /** A WRITE of no bytes at the end of the memory, which shows whether the peer has such memory. */
    public WorkRequest touch() {
        return out.next().write(peer.at(peer.bytes(), 0), peer.key());
    }

    /** Adds WRITEs of this part from the same offset of a region. Returns false if the peer is gone. */
    boolean carry(MemoryRegion from, long offset, long length) {
        boolean alive = true;
        for (long done = 0; done < length && alive; done += MAX_PIECE) {
            int piece = piece(length - done);
            alive = out.add(write(offset + done, piece).from(from, offset + done, piece));
        }
        return alive;
    }

    /** Adds a piece that has changed. The caller of {@link Shadow#update} checks whether the peer is gone. */
    @Override
    public void add(long offset, long length) {
        if (out.isAlive() && !carry(copy, offset, length)) {
            assert !out.isAlive();
        }
    }

    /** Adds READs of this part into a region, the last of them signaled. Returns false if the peer is gone. */
    boolean fetch(long offset, MemoryRegion into, long intoOffset, long length) {
        boolean alive = true;
        for (long done = 0; done < length && alive; done += MAX_PIECE) {
            int piece = piece(length - done);
            WorkRequest read =
                    out.next().read(at(offset + done, piece), peer.key()).from(into, intoOffset + done, piece);
            alive = out.add(done + piece == length ? read.signaled() : read);
        }
        return alive;
    }

    private static int piece(long rest) {
        return (int) Math.min(MAX_PIECE, rest);
    }

    /** Where a part of the connection's memory is at the peer. */
    private long at(long offset, long length) {
        if (offset < 0 || length < 0 || offset > bytes - length) {
            throw new IndexOutOfBoundsException(
                    length + " bytes at " + offset + " are not in memory of " + bytes + " bytes");
        }
        return peer.at(offset, length);
    }
}
