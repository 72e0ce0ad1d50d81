package dev.rackcall.rpc.shm.server;

import dev.rackcall.rpc.Metadata;
import dev.rackcall.rpc.shm.protocol.MetadataCodec;
import dev.rackcall.rpc.shm.protocol.PayloadBuffer;
import dev.rackcall.rpc.shm.protocol.SlotLayout;
import dev.rackcall.sandbox.ArgumentSpace;
import dev.rackcall.shm.codec.PayloadWriter;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * The response half of a slot: encodes a result or a failure, and publishes it. Confined to the thread that serves the
 * call; any thread may check whether a sleeper has to be woken.
 */
final class ServerResponse {
    /** Characters of a failure's description that fit into the slot, if they are ASCII. */
    private static final int SHORT_DESCRIPTION = 80;

    private static final long NO_STORES = -1;

    private static final VarHandle UNWOKEN;

    static {
        try {
            UNWOKEN = MethodHandles.lookup().findVarHandle(ServerResponse.class, "unwoken", boolean.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private final MemorySegment memory;
    private final long slot;
    private final PayloadBuffer buffer;
    private final PayloadWriter writer;
    /** The service whose objects are encoded. */
    private ServiceBinding service;

    private boolean encoding;
    /** The result names an object that the client has to fetch. */
    private boolean held;
    /** The payload begins with what the handler stored into a copy of its arguments. */
    private boolean stored;

    private long storesAt;
    private int storeCount;
    /** Encoded before the result, if there are any. */
    private long storedBytes;

    private Metadata trailers = Metadata.EMPTY;

    /** Whether a response was published whose sleeper has not been woken yet. */
    @SuppressWarnings("unused") // UNWOKEN
    private boolean unwoken;

    ServerResponse(ServerEnd end, ServiceBinding service, long slot) {
        this.memory = end.memory();
        this.slot = slot;
        this.buffer = new PayloadBuffer(
                end.replyArena(),
                memory.asSlice(slot + SlotLayout.RESPONSE_INLINE, SlotLayout.RESPONSE_INLINE_BYTES),
                end.slots());
        this.service = service;
        this.writer = PayloadWriter.create(buffer).objects(service.objects());
    }

    /** Encodes the objects of that service from now on. */
    void answersFor(ServiceBinding called) {
        if (service != called) {
            service = called;
            writer.objects(called.objects());
        }
    }

    /** A new call has the slot. */
    void begin(ServiceBinding called) {
        answersFor(called);
        encoding = false;
        // The last response's caller has read it. Its mark would wake this call's caller for nothing.
        UNWOKEN.setOpaque(this, false);
        if (held) {
            held = false;
        }
        if (stored) {
            stored = false;
        }
        // A comparison is cheaper than a reference store, which has a garbage collector's barrier.
        if (trailers != Metadata.EMPTY) {
            trailers = Metadata.EMPTY;
        }
    }

    /** Adds trailers to the response. */
    void addTrailers(Metadata more) {
        if (!more.isEmpty()) {
            trailers = trailers.with(more);
        }
    }

    Metadata trailers() {
        return trailers;
    }

    /** The result names an object outside the connection's arenas. */
    void namesHeld() {
        held = true;
    }

    /** Encodes what was stored into a copy of the arguments. Called before the result is begun. */
    void stores(ArgumentSpace copy) {
        storesAt = NO_STORES;
        storeCount = 0;
        copy.changes((ref, changed, at, length) -> {
            if (storesAt == NO_STORES) {
                storesAt = result().reserveCount();
            }
            storeCount++;
            writer.writeLong(ref);
            writer.writeLong(length);
            writer.write(changed, at, length);
        });
        if (storesAt != NO_STORES) {
            writer.setCount(storesAt, storeCount);
            stored = true;
            storedBytes = writer.length();
        }
    }

    /** The last response was read or is unwanted: a large payload returns to the arena. */
    void forgetLast() {
        buffer.trim();
    }

    /** Where the result is encoded. */
    PayloadWriter result() {
        if (!encoding) {
            encoding = true;
            writer.begin(buffer.start());
        }
        return writer;
    }

    /** Whether a result was begun, so that the handler has returned. */
    boolean isEncoding() {
        return encoding;
    }

    /** Of the encoded result, without stores. Asked before trailers follow it. */
    long resultBytes() {
        if (!encoding) {
            return 0;
        }
        return stored ? writer.length() - storedBytes : writer.length();
    }

    /** The word of a successful response with the encoded result. */
    long success(long ticket) {
        int flags = (held ? SlotLayout.HELD : 0) | (stored ? SlotLayout.STORES : 0);
        if (trailers != Metadata.EMPTY) {
            MetadataCodec.appendTrailers(result(), trailers);
            flags |= SlotLayout.METADATA;
        }
        if (!encoding) {
            return SlotLayout.word(ticket, 0, 0, 0);
        }
        if (buffer.isInline()) {
            return SlotLayout.word(ticket, 0, flags, (int) writer.length());
        }
        SlotLayout.responseOutside(memory, slot, writer.length(), buffer.ref());
        return SlotLayout.word(ticket, 0, SlotLayout.OUTSIDE | flags, 0);
    }

    /** Encodes a failure, shortened if memory is short; returns its word. */
    long failure(long ticket, Failure failure) {
        int inlineLength;
        try {
            inlineLength = encode(failure);
        } catch (RuntimeException | Error e) {
            // No memory for all of it; its beginning fits into the slot.
            inlineLength = encodeShortened(failure);
        }
        int flags = inlineLength == 0 ? 0 : SlotLayout.METADATA;
        if (inlineLength != 0 && !buffer.isInline()) {
            flags |= SlotLayout.OUTSIDE;
            SlotLayout.responseOutside(memory, slot, writer.length(), buffer.ref());
            inlineLength = 0;
        }
        return SlotLayout.word(ticket, failure.status().code().number(), flags, inlineLength);
    }

    private int encode(Failure failure) {
        writer.begin(buffer.start());
        trailers = trailers.with(failure.trailers());
        MetadataCodec.writeFailure(writer, failure.status(), trailers);
        return (int) writer.length();
    }

    /** Encodes the beginning of the description; returns 0 if even that does not fit, so that only the code is sent. */
    private int encodeShortened(Failure failure) {
        String description = failure.status().description();
        String cut = description.substring(0, Math.min(SHORT_DESCRIPTION, description.length()));
        trailers = Metadata.EMPTY;
        try {
            return encode(new Failure(failure.status().code().with(cut), Metadata.EMPTY));
        } catch (RuntimeException | Error e) {
            return 0;
        }
    }

    /** Makes the response visible to the client. From then on the slot may serve its next call. */
    void publish(long word) {
        SlotLayout.publishResponse(memory, slot, word);
        // Release, after the response: pairs with the acquire in takeUnwoken(). Another thread that takes the mark
        // wakes the sleeper, which must then find the response: this thread will not wake it again.
        UNWOKEN.setRelease(this, true);
    }

    /**
     * Whether a response was published whose sleeper has not been woken yet; true for only one of several calling
     * threads.
     */
    boolean takeUnwoken() {
        return (boolean) UNWOKEN.getOpaque(this) && (boolean) UNWOKEN.getAndSetAcquire(this, false);
    }
}
