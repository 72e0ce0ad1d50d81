package dev.rackcall.verbs.soft.responder;

import dev.rackcall.verbs.Access;
import dev.rackcall.verbs.ReceiveRequest;
import dev.rackcall.verbs.soft.memory.DomainMemory;
import dev.rackcall.verbs.soft.memory.ScatterList;
import java.lang.foreign.MemorySegment;

/** A posted receive request. */
final class ReceiveSlot {
    private final ScatterList list;
    private long id;

    ReceiveSlot(int maxSegments) {
        list = new ScatterList(maxSegments);
    }

    void set(ReceiveRequest request) {
        id = request.id();
        list.clear();
        for (int i = 0; i < request.segments(); i++) {
            list.add(request.segmentAddress(i), request.segmentLength(i), request.segmentKey(i));
        }
    }

    void set(ReceiveSlot other) {
        id = other.id;
        list.set(other.list);
    }

    long id() {
        return id;
    }

    long capacity() {
        return list.bytes();
    }

    boolean isUsable(DomainMemory memory) {
        return list.isUsable(memory, Access.LOCAL_WRITE.bit());
    }

    boolean store(DomainMemory memory, long offset, MemorySegment from, long at, int length) {
        return list.store(memory, offset, from, at, length);
    }
}
