package dev.rackcall.rpc.shm.client;

import dev.rackcall.rpc.Isolation;
import dev.rackcall.rpc.Metadata;
import dev.rackcall.rpc.MethodDescriptor;
import dev.rackcall.rpc.shm.protocol.MetadataCodec;
import dev.rackcall.rpc.shm.protocol.PayloadBuffer;
import dev.rackcall.rpc.shm.protocol.SlotLayout;
import dev.rackcall.shm.codec.ObjectCodec;
import dev.rackcall.shm.codec.PayloadWriter;
import java.lang.foreign.MemorySegment;

/**
 * The request half of a slot: encodes a call's headers and arguments, and isolates its shared arguments. Reused by the
 * slot's calls; confined to the thread that holds the slot.
 */
final class ClientRequest {
    private final ClientMemory arenas;
    private final MemorySegment memory;
    private final long slot;
    private final PayloadBuffer buffer;
    private final PayloadWriter writer;

    private Metadata headers = Metadata.EMPTY;
    private boolean isolated;
    /** Whether the method's handler may store into the arguments. */
    private boolean writes;
    /** The scope where it may; null or empty if the call passes no shared argument. */
    private WrittenScope written;

    private Isolation isolation = Isolation.TRUSTED;
    /** Null until the slot's first call with a shared argument. */
    private SentArguments sharedArguments;

    private long seal;
    private boolean encoding;

    ClientRequest(ClientMemory arenas, ObjectCodec objects, long slot) {
        this.arenas = arenas;
        this.memory = arenas.memory();
        this.slot = slot;
        this.buffer = new PayloadBuffer(
                arenas.requestArena(),
                memory.asSlice(slot + SlotLayout.REQUEST_INLINE, SlotLayout.REQUEST_INLINE_BYTES),
                arenas.slots());
        this.writer = PayloadWriter.create(buffer).objects(objects);
    }

    void begin(Metadata callHeaders, Isolation asked, boolean callWrites) {
        isolated = asked != Isolation.TRUSTED;
        writes = callWrites;
        // Sealed pages cannot be written.
        Isolation callIsolation = isolated && writes ? Isolation.SNAPSHOT : asked;
        // A reference store costs a garbage collector's barrier, often with a full fence. Most calls change neither.
        if (headers != callHeaders) {
            headers = callHeaders;
        }
        if (isolated) {
            if (isolation != callIsolation) {
                isolation = callIsolation;
            }
        }
        if (sharedArguments != null) {
            sharedArguments.begin();
        }
        if (written != null) {
            written.forget();
        }
        encoding = false;
        seal = SentArguments.NO_SEAL;
    }

    PayloadWriter arguments() {
        if (!encoding) {
            encoding = true;
            writer.begin(buffer.start());
            if (!headers.isEmpty()) {
                MetadataCodec.write(writer, headers);
            }
        }
        return writer;
    }

    /** The Ref under which the server finds a shared argument. */
    long share(Object sharedObject, MethodDescriptor method, String argument) {
        if (sharedArguments == null) {
            sharedArguments = new SentArguments(arenas);
        }
        return sharedArguments.share(sharedObject, isolated || writes, method.fullName(), argument);
    }

    /** Takes over the shared arguments of a call that waited for this slot; null if it has none. */
    void take(SentArguments waited) {
        if (waited != null) {
            sharedArguments = waited;
        }
    }

    /**
     * Completes the request, except for the word that publishes it; returns that word.
     *
     * @param deadline a value of {@link System#nanoTime}; 0: none
     */
    long complete(long ticket, MethodDescriptor method, int methodOrOp, int flags, long deadline) {
        int allFlags = flags;
        int inlineLength = 0;
        if (!headers.isEmpty()) {
            arguments();
            allFlags |= SlotLayout.METADATA;
        }
        if (encoding) {
            if (buffer.isInline()) {
                inlineLength = (int) writer.length();
            } else {
                allFlags |= SlotLayout.OUTSIDE;
                SlotLayout.requestOutside(memory, slot, writer.length(), buffer.ref());
            }
        }
        if (sharedArguments != null) {
            if (!sharedArguments.isEmpty()) {
                allFlags |= isolate(method);
            }
            if (sharedArguments.areFetched()) {
                allFlags |= SlotLayout.FETCHED;
            }
        }
        if (deadline != 0) {
            allFlags |= SlotLayout.DEADLINE;
            SlotLayout.requestDeadline(memory, slot, deadline);
        }
        return SlotLayout.word(ticket, methodOrOp, allFlags, inlineLength);
    }

    /** Records the scope of the arguments in the slot; returns the flags that say how it is passed. */
    private int isolate(MethodDescriptor method) {
        if (writes) {
            if (written == null) {
                written = new WrittenScope(arenas);
            }
            written.of(sharedArguments.firstRun(), sharedArguments.requireWritable(method));
        }
        seal = sharedArguments.isolate(isolated ? isolation : Isolation.TRUSTED, method, memory, slot);
        if (!isolated) {
            return SlotLayout.FETCHED;
        }
        return seal == SentArguments.NO_SEAL ? SlotLayout.SNAPSHOT : SlotLayout.SEALED;
    }

    /** The scope in which the handler may store; may be null or empty. */
    WrittenScope written() {
        return written;
    }

    /**
     * The seal of a completed request's arguments, to be released when the call ends; {@link SentArguments#NO_SEAL}:
     * none.
     */
    long seal() {
        return seal;
    }

    /** The waiting caller has the answer. */
    void answered() {
        if (isolated && sharedArguments != null) {
            sharedArguments.answered(seal);
        }
    }

    /** The call will not be sent. */
    void forget() {
        if (sharedArguments != null) {
            sharedArguments.forget();
        }
    }

    /** The call has ended: a large payload returns to the arena. */
    void end() {
        buffer.trim();
    }
}
