package dev.rackcall.rpc.shm.server;

import dev.rackcall.rpc.Metadata;
import dev.rackcall.rpc.shm.protocol.MetadataCodec;
import dev.rackcall.rpc.shm.protocol.PayloadBuffer;
import dev.rackcall.rpc.shm.protocol.SlotLayout;
import dev.rackcall.shm.codec.PayloadWriter;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * The response half of a slot: where a result or a failure is encoded, and how it is published. Used by the thread that serves the call; whether somebody is to be
 * woken for what was published, any thread may ask.
 */
final class ServerResponse {
    /** Characters of a failure's description that fit into the slot, if they are ASCII. */
    private static final int SHORT_DESCRIPTION = 80;

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
    private boolean encoding;
    /** The result names an object that the client has to ask for. */
    private boolean held;

    /** A response was published that nobody was woken for yet. */
    @SuppressWarnings("unused") // UNWOKEN
    private boolean unwoken;

    ServerResponse(ServerEnd link, ServiceBinding service, long slot) {
        this.memory = link.memory();
        this.slot = slot;
        this.buffer = new PayloadBuffer(
                link.replyArena(), memory.asSlice(slot + SlotLayout.RESPONSE_INLINE, SlotLayout.RESPONSE_INLINE_BYTES));
        this.writer = PayloadWriter.create(buffer).objects(service.objects());
    }

    /** A new call has the slot. */
    void begin() {
        encoding = false;
        if (held) {
            held = false;
        }
    }

    /** The result names an object that lies in no arena of the connection's. */
    void namesHeld() {
        held = true;
    }

    /** The client has read the last response, or nobody wants it: a large payload goes back to the arena. */
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

    /** Whether a result was begun, that is, the handler had returned. */
    boolean isEncoding() {
        return encoding;
    }

    /** The word that says that the call has succeeded with what was encoded. */
    long success(long ticket) {
        if (!encoding) {
            return SlotLayout.word(ticket, 0, 0, 0);
        }
        int flags = held ? SlotLayout.HELD : 0;
        if (buffer.isInline()) {
            return SlotLayout.word(ticket, 0, flags, (int) writer.length());
        }
        SlotLayout.responseOutside(memory, slot, writer.length(), buffer.ref());
        return SlotLayout.word(ticket, 0, SlotLayout.OUTSIDE | flags, 0);
    }

    /** Encodes a failure, as much of it as there is memory for; returns the word that says so. */
    long failure(long ticket, Failure failure) {
        int inlineLength;
        try {
            inlineLength = encode(failure);
        } catch (RuntimeException | Error e) {
            // No memory for all of it; its beginning has room in the slot.
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
        MetadataCodec.writeFailure(writer, failure.status(), failure.trailers());
        return (int) writer.length();
    }

    /** Returns 0 if even that has no room: then the code alone must do. */
    private int encodeShortened(Failure failure) {
        String description = failure.status().description();
        String cut = description.substring(0, Math.min(SHORT_DESCRIPTION, description.length()));
        try {
            return encode(new Failure(failure.status().code().with(cut), Metadata.EMPTY));
        } catch (RuntimeException | Error e) {
            return 0;
        }
    }

    /** Makes the response visible to the client. From then on the slot may serve its next call. */
    void publish(long word) {
        SlotLayout.publishResponse(memory, slot, word);
        // Behind the response, and release: pairs with the acquire in takeUnwoken(). Another thread that takes the mark
        // wakes the sleeper, who then has to find the response: this thread will not wake him again.
        UNWOKEN.setRelease(this, true);
    }

    /** Whether a response was published here that nobody was woken for yet; of several who ask, one is told. */
    boolean takeUnwoken() {
        return (boolean) UNWOKEN.getOpaque(this) && (boolean) UNWOKEN.getAndSetAcquire(this, false);
    }
}
