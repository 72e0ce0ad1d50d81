package dev.rackcall.chronicle;

import dev.rackcall.shm.types.SharedBytes;
import java.lang.foreign.MemorySegment;
import net.openhft.chronicle.bytes.Bytes;
import net.openhft.chronicle.bytes.PointerBytesStore;

/** The memory under a {@code Bytes} that lies in shared memory. */
final class SharedStore extends PointerBytesStore {
    private final SharedBytes object;

    SharedStore(SharedBytes object) {
        this.object = object;
        MemorySegment segment = object.segment();
        set(segment.address(), segment.byteSize());
    }

    /** The object that a Ref can name. */
    SharedBytes object() {
        return object;
    }

    /** A view of {@code length} bytes from {@code offset} on, to be read. */
    Bytes<?> view(int offset, int length) {
        Bytes<?> bytes = bytesForWrite();
        bytes.writePosition(offset + (long) length);
        bytes.readPosition(offset);
        // Nothing is appended to what another process wrote.
        bytes.writeLimit(offset + (long) length);
        return shareable(bytes);
    }

    /** A view of everything, to be filled. */
    Bytes<?> fillable() {
        Bytes<?> bytes = bytesForWrite();
        // Without a limit it would write over what comes after it in the arena.
        bytes.writeLimit(capacity());
        return shareable(bytes);
    }

    /** Lets threads use it that have not made it: the one that decodes an answer is not the caller's. */
    static Bytes<?> shareable(Bytes<?> bytes) {
        bytes.singleThreadedCheckDisabled(true);
        return bytes;
    }
}
