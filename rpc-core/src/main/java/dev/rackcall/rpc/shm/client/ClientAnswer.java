package dev.rackcall.rpc.shm.client;

import dev.rackcall.rpc.Metadata;
import dev.rackcall.rpc.RpcException;
import dev.rackcall.rpc.Status;
import dev.rackcall.rpc.shm.protocol.MetadataCodec;
import dev.rackcall.rpc.shm.protocol.PayloadBuffer;
import dev.rackcall.rpc.shm.protocol.SlotLayout;
import dev.rackcall.shm.Ref;
import dev.rackcall.shm.SealedScopeException;
import dev.rackcall.shm.codec.ObjectCodec;
import dev.rackcall.shm.codec.PayloadException;
import dev.rackcall.shm.codec.PayloadReader;
import java.lang.foreign.MemorySegment;
import java.util.function.Supplier;

/**
 * The response half of a slot: reads and checks the answer of an untrusted server. Reused by the slot's calls; confined
 * to the thread that holds the slot.
 */
final class ClientAnswer {
    private final ClientMemory arenas;
    private final MemorySegment memory;
    private final long slot;
    private final PayloadReader reader;
    private final Supplier<String> name;
    /** Bytes of the answer if it lies outside the slot, else 0. */
    private long outsideBytes;
    /** The server keeps the run of an answer up to this size for the slot's next one. */
    private final long keptBytes;

    private Metadata trailers = Metadata.EMPTY;

    /** @param name of the slot's current call, for messages */
    ClientAnswer(ClientMemory arenas, ObjectCodec objects, long slot, Supplier<String> name) {
        this.arenas = arenas;
        this.memory = arenas.memory();
        this.keptBytes = PayloadBuffer.keptPayloadBytes(arenas.replyMemory().byteSize(), arenas.slots());
        this.name = name;
        this.slot = slot;
        this.reader = PayloadReader.create().objects(objects);
    }

    /** A new call has the slot. */
    void begin() {
        outsideBytes = 0;
        // A comparison is cheaper than a reference store, which has a garbage collector's barrier.
        if (trailers != Metadata.EMPTY) {
            trailers = Metadata.EMPTY;
        }
    }

    /** The trailers of the opened answer. */
    Metadata trailers() {
        return trailers;
    }

    /**
     * Opens the answer that {@code word} announces, and makes the stores that it brings; throws the failure of a failed
     * call.
     *
     * @param written where the call's handler may store; null if nowhere
     */
    PayloadReader open(long word, WrittenScope written) {
        if (SlotLayout.isEmptySuccess(word)) {
            reader.beginEmpty();
            return reader;
        }
        int flags = SlotLayout.flags(word);
        MemorySegment from = memory;
        long at = slot + SlotLayout.RESPONSE_INLINE;
        long length = SlotLayout.inlineLength(word);
        if ((flags & SlotLayout.OUTSIDE) == 0) {
            if (length > SlotLayout.RESPONSE_INLINE_BYTES) {
                throw malformed("an inline payload of " + length + " bytes");
            }
        } else {
            length = SlotLayout.responseLength(memory, slot);
            long ref = SlotLayout.responseRef(memory, slot);
            if (!arenas.isReplyPayload(ref, length)) {
                throw malformed(
                        "a payload of " + length + " bytes at " + Ref.describe(ref) + ", outside the reply arena");
            }
            outsideBytes = length;
            from = arenas.replyMemory();
            at = Ref.offset(ref);
        }
        reader.begin(from, at, length);
        if (SlotLayout.methodOrStatus(word) != 0) {
            throw failure(SlotLayout.methodOrStatus(word), flags);
        }
        if ((flags & SlotLayout.METADATA) != 0) {
            readTrailers(from, at, length);
        }
        if ((flags & SlotLayout.STORES) != 0) {
            store(written);
        }
        return reader;
    }

    private void store(WrittenScope written) {
        if (written == null) {
            throw malformed("stores, though the method does not write");
        }
        try {
            written.store(reader);
        } catch (PayloadException e) {
            throw malformed(e.getMessage());
        } catch (SealedScopeException e) {
            throw Status.Code.FAILED_PRECONDITION
                    .with("%s: what its handler stored cannot be stored here: %s", name.get(), e.getMessage())
                    .asException(e);
        }
    }

    private void readTrailers(MemorySegment from, long at, long length) {
        try {
            trailers = MetadataCodec.readTrailers(reader, from, at, length);
        } catch (PayloadException e) {
            throw malformed("trailers that cannot be read: " + e.getMessage());
        }
    }

    private RpcException failure(int number, int flags) {
        try {
            String description = (flags & SlotLayout.METADATA) != 0 ? reader.readString() : "";
            trailers = (flags & SlotLayout.METADATA) != 0 ? MetadataCodec.read(reader) : Metadata.EMPTY;
            return new RpcException(Status.Code.ofNumber(number).with(description), trailers);
        } catch (PayloadException e) {
            return malformed("a failure that cannot be read: " + e.getMessage());
        }
    }

    private RpcException malformed(String what) {
        return ClientFailure.malformedAnswer(name.get(), what).asException();
    }

    /** Whether the server keeps the payload until the client reports that it was read. */
    boolean isKeptUntilRead() {
        return outsideBytes > keptBytes;
    }
}
