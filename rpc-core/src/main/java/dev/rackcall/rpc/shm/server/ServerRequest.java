package dev.rackcall.rpc.shm.server;

import dev.rackcall.rpc.DeadlineClock;
import dev.rackcall.rpc.Metadata;
import dev.rackcall.rpc.MethodDescriptor;
import dev.rackcall.rpc.Status;
import dev.rackcall.rpc.shm.protocol.MetadataCodec;
import dev.rackcall.rpc.shm.protocol.SlotLayout;
import dev.rackcall.shm.Ref;
import dev.rackcall.shm.codec.PayloadReader;
import java.lang.foreign.MemorySegment;

/**
 * The request of a slot's call. Its header is copied and checked once, since the client may go on writing. Begun by the
 * poller, then confined to the thread that serves the call.
 */
final class ServerRequest {
    private final ServerEnd end;
    private final BoundServices services;
    private final PayloadBudget payloads;
    private final DeadlineClock clock;
    private final MemorySegment memory;
    private final long slot;
    private final PayloadReader reader;

    /** The service that is called; of a control request, any. */
    private ServiceBinding service;

    private long ticket;
    private int methodIndex;
    private int flags;
    private long length;
    private long ref;
    /** The bytes that the budget granted: {@link #length}, or 0 if it refused. */
    private long counted;

    private long deadline;
    /** The scope or seal of the arguments, if the flags say so. */
    private long isolation;

    /** The method that a control request belongs to, for messages. */
    private String continued;

    private boolean opened;
    private Metadata headers = Metadata.EMPTY;
    /** Encoded before the arguments. Only of a request with headers that were read. */
    private long headerBytes;

    ServerRequest(ServerEnd end, BoundServices services, PayloadBudget payloads, DeadlineClock clock, long slot) {
        this.end = end;
        this.services = services;
        this.service = services.first();
        this.payloads = payloads;
        this.clock = clock;
        this.memory = end.memory();
        this.slot = slot;
        this.reader = PayloadReader.create().objects(service.objects());
    }

    /** Copies the header; each word is read once. */
    void begin(long takenTicket, long word) throws ProtocolBreachException {
        ticket = takenTicket;
        int number = SlotLayout.methodOrStatus(word);
        flags = SlotLayout.flags(word);
        if ((flags & SlotLayout.CONTROL) == 0) {
            methodIndex = SlotLayout.methodOf(number);
            call(services.get(SlotLayout.serviceOf(number)));
        } else {
            methodIndex = number;
        }
        if ((flags & SlotLayout.FETCHED) != 0) {
            isolation = SlotLayout.requestIsolation(memory, slot);
        }
        deadline = (flags & SlotLayout.DEADLINE) == 0 ? 0 : clock.ofSystem(SlotLayout.requestDeadline(memory, slot));
        if ((flags & SlotLayout.OUTSIDE) == 0) {
            counted = 0;
            length = SlotLayout.inlineLength(word);
            if (length > SlotLayout.REQUEST_INLINE_BYTES) {
                throw new ProtocolBreachException("an inline payload of " + length + " bytes");
            }
        } else {
            length = SlotLayout.requestLength(memory, slot);
            ref = SlotLayout.requestRef(memory, slot);
            if (!end.isRequestPayload(ref, length)) {
                throw new ProtocolBreachException(
                        "a payload of " + length + " bytes at " + Ref.describe(ref) + ", outside its request arena");
            }
            counted = payloads.take(length) ? length : 0;
        }
        opened = false;
    }

    private void call(ServiceBinding called) {
        // A comparison is cheaper than two reference stores, which have a garbage collector's barrier.
        if (service != called) {
            service = called;
            reader.objects(called.objects());
        }
    }

    /** The service that is called. */
    ServiceBinding service() {
        return service;
    }

    /** Whether the call's deadline has passed. */
    boolean isLate() {
        return deadline != 0 && clock.left(deadline) <= 0;
    }

    /** Throws the failure of a call whose handler must not run. */
    void requireServable() {
        if (!service.hasMethod(methodIndex)) {
            throw Status.Code.UNIMPLEMENTED
                    .with(
                            "channel %s has no method number %d; build both sides from the same interface",
                            service.channel(), methodIndex)
                    .asException();
        }
        if (isLate()) {
            throw Status.Code.DEADLINE_EXCEEDED
                    .with("%s: the deadline had passed before the handler could start", name())
                    .asException();
        }
        requireCounted();
    }

    /** Throws if the payload exceeds the budget of its connection. */
    void requireCounted() {
        if ((flags & SlotLayout.OUTSIDE) != 0 && counted < length) {
            throw Status.Code.RESOURCE_EXHAUSTED
                    .with(
                            "%s: its arguments of %d bytes and those of earlier calls that still run exceed the request arena;"
                                    + " wait for them, or open the channel with a larger arenaQuota",
                            name(), length)
                    .asException();
        }
    }

    long ticket() {
        return ticket;
    }

    int methodIndex() {
        return methodIndex;
    }

    MethodDescriptor method() {
        return service.method(methodIndex);
    }

    /** Names the method whose call a control request continues. */
    void continues(String method) {
        continued = method;
    }

    /** As the other, for a request that has objects of that service. */
    void continues(String method, ServiceBinding called) {
        continued = method;
        call(called);
    }

    String name() {
        if ((flags & SlotLayout.CONTROL) != 0) {
            return continued;
        }
        return service.hasMethod(methodIndex) ? method().fullName() : service.channel() + "/#" + methodIndex;
    }

    /** On the server's clock; 0: none. */
    long deadline() {
        return deadline;
    }

    /** As {@link #deadline}, a value of {@link System#nanoTime}. */
    long systemDeadline() {
        return clock.toSystem(deadline);
    }

    int flags() {
        return flags;
    }

    boolean isIsolated() {
        int how = flags & SlotLayout.FETCHED;
        return how != 0 && how != SlotLayout.FETCHED;
    }

    boolean isSealed() {
        return (flags & SlotLayout.FETCHED) == SlotLayout.SEALED;
    }

    /**
     * Whether the trusted arguments need a space of their own: their objects have stayed with the client, or the method
     * writes, and {@link #isolation} names the scope in which it may store.
     */
    boolean namesScope() {
        return (flags & SlotLayout.FETCHED) == SlotLayout.FETCHED;
    }

    /** The first run of the arguments' scope, or their seal's number. Only of an isolated request, or one that writes. */
    long isolation() {
        return isolation;
    }

    // ---- the payload

    long length() {
        return length;
    }

    /** The payload behind the headers. */
    PayloadReader arguments() {
        if (!opened) {
            opened = true;
            open();
            if ((flags & SlotLayout.METADATA) != 0) {
                headers = MetadataCodec.read(reader);
                headerBytes = length - reader.remaining();
            }
        }
        return reader;
    }

    /** Of the encoded arguments, without the headers. Headers must have been read, as those of each context are. */
    long argumentBytes() {
        return (flags & SlotLayout.METADATA) == 0 ? length : length - headerBytes;
    }

    Metadata headers() {
        if ((flags & SlotLayout.METADATA) != 0) {
            arguments();
        }
        return headers;
    }

    /** The payload from its first byte. */
    PayloadReader open() {
        if ((flags & SlotLayout.OUTSIDE) == 0) {
            reader.begin(memory, slot + SlotLayout.REQUEST_INLINE, length);
        } else {
            reader.begin(end.requestMemory(), Ref.offset(ref), length);
        }
        return reader;
    }

    /** The call has ended: its payload is not read any more. */
    void end() {
        // A comparison is cheaper than a reference store, which has a garbage collector's barrier.
        if (headers != Metadata.EMPTY) {
            headers = Metadata.EMPTY;
        }
        if (counted != 0) {
            payloads.give(counted);
            counted = 0;
        }
    }
}
