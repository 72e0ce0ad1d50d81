package dev.rackcall.cp.request;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import dev.rackcall.cp.session.SessionLayout;
import dev.rackcall.cp.table.NamedRegion;
import dev.rackcall.cp.table.RegionRecord;
import dev.rackcall.cp.table.TableReader.StaleTableException;
import dev.rackcall.verbs.Access;
import dev.rackcall.verbs.CompletionStatus;
import dev.rackcall.verbs.Opcode;
import dev.rackcall.verbs.WorkRequest;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Optional;
import java.util.stream.LongStream;

/**
 * A copy of a tenant's request. Each field is read once, the copy is checked, and the posted request is made from the
 * copy, so a concurrent change of the original has no effect. Belongs to the thread that pushes.
 */
public final class CheckedRequest {
    public static final int MAX_SEGMENTS = SessionLayout.MAX_SEGMENTS;
    public static final int MAX_INLINE = SessionLayout.MAX_INLINE;
    /** Maximum length of a request. Longer ones would delay those of other tenants; a program splits them. */
    static final int MAX_BYTES = 1 << 20;

    /** Bytes of a message that travel with it; a longer payload is fetched by a READ. */
    public static final int MAX_COPIED = 512;

    private static final Opcode[] OPCODES = Opcode.values();
    private static final int UNKNOWN_OPCODE = -1;
    private static final int ATOMIC_BYTES = 8;

    private final long[] addresses = new long[MAX_SEGMENTS];
    private final int[] lengths = new int[MAX_SEGMENTS];
    private final int[] keys = new int[MAX_SEGMENTS];
    private final byte[] inline = new byte[MAX_INLINE];
    private final MemorySegment inlineBytes = MemorySegment.ofArray(inline);
    private int opcode;
    private int flags;
    private int segments;
    private int bytes;
    private int inlineLength;
    private long id;
    private long remoteAddress;
    private int remoteKey;
    private long compareOrAdd;
    private long swap;
    private String problem = "";
    /** The slot of the message that carries this request; -1 for none. */
    private int messageSlot = -1;

    private boolean isInternal;
    /** The record of the remote region that {@link #isKnown} has found. */
    private Optional<RegionRecord> found = Optional.empty();

    public long id() {
        return id;
    }

    public int bytes() {
        return bytes;
    }

    public boolean isSignaled() {
        return (flags & WorkRequest.SIGNALED) != 0;
    }

    public Opcode opcode() {
        return OPCODES[opcode];
    }

    /** Why {@link #check} did not return SUCCESS. */
    public String problem() {
        return problem;
    }

    /** Whether it is a message to a port. */
    public boolean isMessage() {
        return opcode == Opcode.SEND_WITH_IMMEDIATE.code();
    }

    /** The port that it is sent to. */
    public int port() {
        return remoteKey;
    }

    /** Whether a message's payload travels with it. */
    public boolean isSmall() {
        return bytes <= MAX_COPIED;
    }

    /** Address of a payload that the receiver fetches. */
    public long address() {
        return addresses[0];
    }

    /** Local key of that payload. */
    public int localKey() {
        return keys[0];
    }

    /**
     * Lets the message name two of the sender's regions to the receiver's agent: their {@link RegionRecord#keyOf}. Any
     * other request stays as it is.
     */
    public void introduce(long first, long second) {
        if (isMessage()) {
            compareOrAdd = first;
            swap = second;
        }
    }

    /** The regions that the message names, unless they are gone or not this tenant's. */
    public List<NamedRegion> introduced(TenantMemory memory) {
        if (compareOrAdd == 0 && swap == 0) {
            return List.of();
        }
        return LongStream.of(compareOrAdd, swap)
                .filter(key -> key != 0)
                .mapToObj(key -> memory.named((int) key))
                .flatMap(Optional::stream)
                .toList();
    }

    /** Copies a small message's payload; returns false if the memory is gone. */
    public boolean gather(TenantMemory memory, byte[] into) {
        if (isInline()) {
            System.arraycopy(inline, 0, into, 0, bytes);
            return true;
        }
        int at = 0;
        boolean isThere = true;
        for (int i = 0; i < segments; i++) {
            isThere &= memory.read(keys[i], addresses[i], into, at, lengths[i]);
            at += lengths[i];
        }
        return isThere;
    }

    /** Marks it as carried by the message in this slot. */
    public CheckedRequest carriedBy(int slot) {
        messageSlot = slot;
        return this;
    }

    /** Makes it a request of the agent itself: the message in this slot. */
    public CheckedRequest internal(int slot) {
        isInternal = true;
        opcode = Opcode.SEND_WITH_IMMEDIATE.code();
        return carriedBy(slot);
    }

    public boolean isInternal() {
        return isInternal;
    }

    public int messageSlot() {
        return messageSlot;
    }

    /** Refuses the request, since its memory was closed after the check. */
    public CompletionStatus lost() {
        return refuse(CompletionStatus.LOCAL_PROTECTION_ERROR, "the message's memory was closed while it was sent");
    }

    /** Whether {@link #check} can do without a lookup at the peer. */
    public boolean isKnown(PeerHost peer) {
        if (isMessage()) {
            return true;
        }
        found = peer.regions().known(remoteKey);
        return found.isPresent();
    }

    /** Copies a request of this process. */
    public void copy(WorkRequest request) {
        found = Optional.empty();
        messageSlot = -1;
        id = request.id();
        flags = request.flags();
        try {
            opcode = request.opcode().code();
        } catch (ArrayIndexOutOfBoundsException unknown) {
            opcode = UNKNOWN_OPCODE;
            return;
        }
        remoteAddress = request.remoteAddress();
        remoteKey = isMessage() ? request.immediate() : request.remoteKey();
        // A message has no operands; its fields hold those of an earlier request.
        compareOrAdd = isMessage() ? 0 : request.compareOrAdd();
        swap = isMessage() ? 0 : request.swap();
        segments = request.segments();
        for (int i = 0; i < Math.min(segments, MAX_SEGMENTS); i++) {
            addresses[i] = request.segmentAddress(i);
            lengths[i] = request.segmentLength(i);
            keys[i] = request.segmentKey(i);
        }
        MemorySegment memory = request.inlineMemory();
        inlineLength = (int) Math.min(MAX_INLINE, memory.byteSize());
        if (isInline() && segments == 1) {
            MemorySegment.copy(memory, 0, inlineBytes, 0, Math.clamp(lengths[0], 0, inlineLength));
        }
    }

    /** Copies a request of another process out of its ring. */
    public void copy(MemorySegment ring, long at) {
        found = Optional.empty();
        messageSlot = -1;
        id = ring.get(JAVA_LONG, at + SessionLayout.ID);
        flags = ring.get(JAVA_INT, at + SessionLayout.FLAGS);
        opcode = ring.get(JAVA_INT, at + SessionLayout.OPCODE);
        remoteAddress = ring.get(JAVA_LONG, at + SessionLayout.REMOTE_ADDRESS);
        remoteKey = ring.get(JAVA_INT, at + SessionLayout.REMOTE_KEY);
        compareOrAdd = ring.get(JAVA_LONG, at + SessionLayout.COMPARE);
        swap = ring.get(JAVA_LONG, at + SessionLayout.SWAP);
        segments = ring.get(JAVA_INT, at + SessionLayout.SEGMENTS);
        for (int i = 0; i < Math.min(segments, MAX_SEGMENTS); i++) {
            long segment = at + SessionLayout.SEGMENT + i * SessionLayout.SEGMENT_BYTES;
            addresses[i] = ring.get(JAVA_LONG, segment);
            lengths[i] = ring.get(JAVA_INT, segment + SessionLayout.SEGMENT_LENGTH);
            keys[i] = ring.get(JAVA_INT, segment + SessionLayout.SEGMENT_KEY);
        }
        inlineLength = MAX_INLINE;
        if (isInline() && segments == 1) {
            MemorySegment.copy(ring, at + SessionLayout.INLINE, inlineBytes, 0, Math.clamp(lengths[0], 0, MAX_INLINE));
        }
    }

    /** Checks the copy. */
    public CompletionStatus check(TenantMemory memory, PeerHost peer) {
        CompletionStatus status = checkForm();
        if (status == CompletionStatus.SUCCESS) {
            status = checkLocal(memory);
        }
        return status == CompletionStatus.SUCCESS ? checkRemote(peer) : status;
    }

    private CompletionStatus checkForm() {
        if (opcode < 0 || opcode >= OPCODES.length) {
            opcode = UNKNOWN_OPCODE;
            return refuse(CompletionStatus.LOCAL_QP_OPERATION_ERROR, "the operation does not exist");
        }
        if (opcode().isReceived() && !isMessage()) {
            return refuse(
                    CompletionStatus.LOCAL_QP_OPERATION_ERROR,
                    opcode()
                            + " needs a receive request, which a virtual queue does not have; use WRITE, or"
                            + " for messages sendWithImmediate with the port's number");
        }
        if (segments < 0 || segments > MAX_SEGMENTS) {
            return refuse(CompletionStatus.LOCAL_LENGTH_ERROR, segments + " segments exceed " + MAX_SEGMENTS);
        }
        long sum = 0;
        for (int i = 0; i < segments; i++) {
            if (lengths[i] < 0) {
                return refuse(CompletionStatus.LOCAL_LENGTH_ERROR, "a segment of " + lengths[i] + " bytes");
            }
            sum += lengths[i];
        }
        if (sum > MAX_BYTES) {
            return refuse(CompletionStatus.LOCAL_LENGTH_ERROR, sum + " bytes exceed " + MAX_BYTES);
        }
        bytes = (int) sum;
        return checkInline();
    }

    private CompletionStatus checkInline() {
        if (!isInline()) {
            return CompletionStatus.SUCCESS;
        }
        if (opcode().isReadOrAtomic() || segments != 1) {
            return refuse(CompletionStatus.LOCAL_QP_OPERATION_ERROR, "inline bytes with " + opcode());
        }
        if (bytes > inlineLength) {
            return refuse(CompletionStatus.LOCAL_LENGTH_ERROR, bytes + " bytes inline exceed " + inlineLength);
        }
        return CompletionStatus.SUCCESS;
    }

    private boolean isInline() {
        return (flags & WorkRequest.INLINE) != 0;
    }

    private CompletionStatus checkLocal(TenantMemory memory) {
        if (opcode().isAtomic() && (bytes != ATOMIC_BYTES || (remoteAddress & (ATOMIC_BYTES - 1)) != 0)) {
            return refuse(
                    CompletionStatus.REMOTE_INVALID_REQUEST,
                    opcode() + " of " + bytes + " bytes at " + Long.toHexString(remoteAddress)
                            + "; atomics need 8 aligned bytes");
        }
        if (isInline()) {
            return CompletionStatus.SUCCESS;
        }
        if (isMessage() && !isSmall() && segments != 1) {
            return refuse(
                    CompletionStatus.LOCAL_LENGTH_ERROR,
                    "a message of " + bytes + " bytes in " + segments + " segments; one longer than " + MAX_COPIED
                            + " is fetched from one");
        }
        int right = opcode().isReadOrAtomic()
                ? Access.LOCAL_WRITE.bit()
                : isMessage() && !isSmall() ? Access.REMOTE_READ.bit() : 0;
        for (int i = 0; i < segments; i++) {
            if (!memory.allows(keys[i], addresses[i], lengths[i], right)) {
                return refuse(
                        CompletionStatus.LOCAL_PROTECTION_ERROR,
                        lengths[i] + " bytes at " + Long.toHexString(addresses[i]) + " with local key "
                                + Integer.toHexString(keys[i]) + " may not be used by tenant " + memory.tenant()
                                + (right == Access.REMOTE_READ.bit() ? " for a message that its receiver READs" : ""));
            }
        }
        return CompletionStatus.SUCCESS;
    }

    private CompletionStatus checkRemote(PeerHost peer) {
        if (peer.isSilent()) {
            return refuse(CompletionStatus.RETRY_EXCEEDED, peer + " does not answer; connect again");
        }
        if (isMessage()) {
            return CompletionStatus.SUCCESS;
        }
        Optional<RegionRecord> region;
        try {
            region = found.isPresent() ? found : peer.regions().find(remoteKey);
        } catch (StaleTableException | IllegalArgumentException e) {
            return refuse(
                    CompletionStatus.RETRY_EXCEEDED,
                    peer + " is gone or has restarted (" + e.getMessage() + "); connect again");
        }
        Access right = opcode() == Opcode.READ
                ? Access.REMOTE_READ
                : opcode().isAtomic() ? Access.REMOTE_ATOMIC : Access.REMOTE_WRITE;
        if (region.isEmpty() || !region.get().allows(remoteAddress, bytes, right.bit())) {
            return refuse(
                    CompletionStatus.REMOTE_ACCESS_ERROR,
                    opcode() + " of " + bytes + " bytes at " + Long.toHexString(remoteAddress) + " with key "
                            + Integer.toHexString(remoteKey) + " is not allowed by " + peer + ", which "
                            + region.map(found -> "gives rights " + found.rights() + " to " + found.length()
                                            + " bytes at " + Long.toHexString(found.address()))
                                    .orElse("has no such region"));
        }
        return CompletionStatus.SUCCESS;
    }

    private CompletionStatus refuse(CompletionStatus status, String reason) {
        problem = reason;
        return status;
    }

    /** Makes a request from the copy, with this id; the lane sets its destination. */
    public void write(WorkRequest request, long number) {
        switch (opcode()) {
            case WRITE -> request.write(remoteAddress, remoteKey);
            case READ -> request.read(remoteAddress, remoteKey);
            case COMPARE_AND_SWAP -> request.compareAndSwap(remoteAddress, remoteKey, compareOrAdd, swap);
            case FETCH_AND_ADD -> request.fetchAndAdd(remoteAddress, remoteKey, compareOrAdd);
            default -> throw new IllegalStateException(opcode() + " was refused before");
        }
        if (isInline()) {
            request.inline(inlineBytes, 0, bytes);
        } else {
            for (int i = 0; i < segments; i++) {
                request.from(addresses[i], lengths[i], keys[i]);
            }
        }
        if ((flags & WorkRequest.FENCE) != 0) {
            request.fenced();
        }
        request.id(number).signaled();
    }
}
