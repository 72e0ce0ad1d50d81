package dev.rackcall.verbs;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import dev.rackcall.verbs.ffi.Structs.IbvWc;
import dev.rackcall.verbs.ffi.VerbsConstants;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * A reusable batch of completions: an array of struct ibv_wc that {@link CompletionQueue#poll} fills from its start.
 * Only one thread may use it at a time. It allocates nothing after creation.
 */
public final class Completions {
    /** Bytes of a struct ibv_wc. */
    public static final long ENTRY_BYTES = IbvWc.BYTES;

    private static final long STATUS = IbvWc.STATUS.offset();
    private static final long OPCODE = IbvWc.OPCODE.offset();
    private static final long VENDOR_ERROR = IbvWc.VENDOR_ERR.offset();
    private static final long BYTE_LENGTH = IbvWc.BYTE_LEN.offset();
    private static final long IMMEDIATE = IbvWc.IMM_DATA.offset();
    private static final long QP = IbvWc.QP_NUM.offset();
    private static final long SOURCE_QP = IbvWc.SRC_QP.offset();
    private static final long FLAGS = IbvWc.WC_FLAGS.offset();
    private static final int HAS_HEADER = VerbsConstants.IBV_WC_GRH;
    private static final int HAS_IMMEDIATE = VerbsConstants.IBV_WC_WITH_IMM;

    private final MemorySegment entries;
    private final int capacity;

    private Completions(int capacity) {
        entries = Arena.ofAuto().allocate(capacity * ENTRY_BYTES, Long.BYTES);
        this.capacity = capacity;
    }

    /** A batch with this capacity. */
    public static Completions create(int capacity) {
        if (capacity < 1) {
            throw new IllegalArgumentException("a batch needs room for at least 1 completion, not " + capacity);
        }
        return new Completions(capacity);
    }

    /** Maximum number of completions. */
    public int capacity() {
        return capacity;
    }

    /** The id of the request. */
    public long id(int index) {
        return entries.get(JAVA_LONG, entry(index));
    }

    /** How the request ended. */
    public CompletionStatus status(int index) {
        return CompletionStatus.ofCode(entries.get(JAVA_INT, entry(index) + STATUS));
    }

    /** Whether the request succeeded. */
    public boolean isSuccess(int index) {
        return entries.get(JAVA_INT, entry(index) + STATUS) == 0;
    }

    /** The kind of request; only meaningful after success. */
    public CompletionOpcode opcode(int index) {
        return CompletionOpcode.ofCode(entries.get(JAVA_INT, entry(index) + OPCODE));
    }

    /** The device's own error number. */
    public int vendorError(int index) {
        return entries.get(JAVA_INT, entry(index) + VENDOR_ERROR);
    }

    /** Bytes that a receive or READ transferred (on UD including the 40-byte header); only meaningful after success. */
    public int bytes(int index) {
        return entries.get(JAVA_INT, entry(index) + BYTE_LENGTH);
    }

    /** Whether the message carried immediate data. */
    public boolean hasImmediate(int index) {
        return (entries.get(JAVA_INT, entry(index) + FLAGS) & HAS_IMMEDIATE) != 0;
    }

    /** The immediate data. */
    public int immediate(int index) {
        return NetworkOrder.toInt(entries.get(JAVA_INT, entry(index) + IMMEDIATE));
    }

    /** Whether the first 40 bytes of the receive request hold the sender's global address (UD). */
    public boolean hasHeader(int index) {
        return (entries.get(JAVA_INT, entry(index) + FLAGS) & HAS_HEADER) != 0;
    }

    /** The number of the local queue pair. */
    public int queuePair(int index) {
        return entries.get(JAVA_INT, entry(index) + QP);
    }

    /** The sender's queue pair number (UD). */
    public int sourceQueuePair(int index) {
        return entries.get(JAVA_INT, entry(index) + SOURCE_QP);
    }

    /** The array of struct ibv_wc, for a provider; lives as long as this object. */
    public MemorySegment entries() {
        return entries;
    }

    /** For a provider in Java: fills one entry. */
    public void set(int index, long id, CompletionStatus status, CompletionOpcode opcode, int bytes, int queuePair) {
        long at = entry(index);
        entries.set(JAVA_LONG, at, id);
        entries.set(JAVA_INT, at + STATUS, status.code());
        entries.set(JAVA_INT, at + OPCODE, opcode.code());
        entries.set(JAVA_INT, at + VENDOR_ERROR, 0);
        entries.set(JAVA_INT, at + BYTE_LENGTH, bytes);
        entries.set(JAVA_INT, at + IMMEDIATE, 0);
        entries.set(JAVA_INT, at + QP, queuePair);
        entries.set(JAVA_INT, at + SOURCE_QP, 0);
        entries.set(JAVA_INT, at + FLAGS, 0);
    }

    /** For a provider in Java: adds immediate data to an entry. */
    public void setImmediate(int index, int immediate) {
        long at = entry(index);
        entries.set(JAVA_INT, at + IMMEDIATE, NetworkOrder.toInt(immediate));
        entries.set(JAVA_INT, at + FLAGS, entries.get(JAVA_INT, at + FLAGS) | HAS_IMMEDIATE);
    }

    /** For a provider in Java: adds a datagram's sender to an entry. */
    public void setSource(int index, int queuePair) {
        long at = entry(index);
        entries.set(JAVA_INT, at + SOURCE_QP, queuePair);
        entries.set(JAVA_INT, at + FLAGS, entries.get(JAVA_INT, at + FLAGS) | HAS_HEADER);
    }

    /** Copies an entry of another batch. */
    public void copy(int index, Completions from, int fromIndex) {
        MemorySegment.copy(from.entries, from.entry(fromIndex), entries, entry(index), ENTRY_BYTES);
    }

    private long entry(int index) {
        if (index < 0 || index >= capacity) {
            throw new IndexOutOfBoundsException("completion " + index + " of " + capacity);
        }
        return index * ENTRY_BYTES;
    }
}
