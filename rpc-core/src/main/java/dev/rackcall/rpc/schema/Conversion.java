package dev.rackcall.rpc.schema;

import dev.rackcall.shm.codec.ObjectCodec;
import dev.rackcall.shm.codec.PayloadException;
import dev.rackcall.shm.codec.PayloadReader;
import dev.rackcall.shm.codec.PayloadWriter;
import java.lang.foreign.MemorySegment;

/** Private memory for one payload on its way from one form to the other. Reused; used by one thread at a time. */
final class Conversion {
    private static final long KEPT_BYTES = 64 << 10;
    /** Maximum bytes of a converted payload: a hostile peer's answer may grow when it is converted. */
    private static final long MAX_BYTES = 1L << 30;

    private final PayloadWriter writer = PayloadWriter.create(Conversion::grow);
    private final PayloadReader reader = PayloadReader.create();
    private MemorySegment kept = MemorySegment.NULL;

    /** @param objects encodes objects of registered classes */
    Conversion(ObjectCodec objects) {
        writer.objects(objects);
        reader.objects(objects);
    }

    private static MemorySegment grow(MemorySegment old, long used, long needed) {
        if (needed > MAX_BYTES) {
            throw new PayloadException("a payload converted from another version of the interface takes more than "
                    + MAX_BYTES + " bytes");
        }
        return PayloadWriter.PRIVATE.grow(old, used, needed);
    }

    /** Starts a new payload. */
    void begin() {
        writer.begin(kept);
    }

    PayloadWriter writer() {
        return writer;
    }

    /** A reader of what was written. */
    PayloadReader written() {
        if (writer.length() == 0) {
            reader.beginEmpty();
        } else {
            reader.begin(writer.buffer(), 0, writer.length());
        }
        return reader;
    }

    /** A reader of what another reader has next, converted. */
    PayloadReader convert(Converter converter, PayloadReader in) {
        begin();
        converter.convert(in, writer);
        return written();
    }

    /** Releases the payload. */
    void end() {
        if (writer.buffer().byteSize() <= KEPT_BYTES) {
            kept = writer.buffer();
        }
    }
}
