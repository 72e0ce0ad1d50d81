package dev.rackcall.cp.client;

import dev.rackcall.cp.ControlPlaneException;
import dev.rackcall.shm.os.file.Mapping;
import dev.rackcall.shm.os.file.SharedFile;
import dev.rackcall.verbs.MemoryRegion;
import java.lang.foreign.MemorySegment;
import java.util.Optional;

/**
 * Memory of this process that the agent process has mapped and registered. Address and keys are those of the agent
 * process that registered it; a lasting region is registered again with each new one. Closing never waits; the agent,
 * which has its own mapping, releases it a moment later.
 */
final class ForeignRegion implements MemoryRegion {
    /** What a lasting region needs to be registered again, closed with the region. */
    record Backing(SharedFile file, Mapping mapping) {
        void close() {
            file.close();
            mapping.close();
        }
    }

    private record Place(TenantSession attachment, SessionRequests.Registered registered) {}

    private final Membership membership;
    private final MemorySegment memory;
    private final int rights;
    private final Optional<Backing> backing;
    /** Written with the monitor, which is never held for long. */
    private volatile Place place;
    /** Guarded by the monitor. */
    private boolean closed;

    private ForeignRegion(
            Membership membership, MemorySegment memory, int rights, Optional<Backing> backing, Place place) {
        this.membership = membership;
        this.memory = memory;
        this.rights = rights;
        this.backing = backing;
        this.place = place;
    }

    /** Registers memory for the present life of the agent; the file and its mapping stay the caller's. */
    static ForeignRegion passing(Membership membership, SharedFile file, MemorySegment mapped, int rights) {
        Patience patience = Patience.begin();
        TenantSession attachment = membership.living(patience);
        Place place = new Place(attachment, attachment.questions.register(file, rights, patience));
        return new ForeignRegion(membership, mapped, rights, Optional.empty(), place);
    }

    /** Registers memory for as long as the tenant lives; owns the backing from then on. */
    static ForeignRegion lasting(Membership membership, Backing backing, int rights) {
        Patience patience = Patience.begin();
        MemorySegment memory = backing.mapping().memory();
        while (true) {
            TenantSession attachment = membership.living(patience);
            SessionRequests.Registered registered = attachment.questions.register(backing.file(), rights, patience);
            ForeignRegion region = new ForeignRegion(
                    membership, memory, rights, Optional.of(backing), new Place(attachment, registered));
            if (membership.keep(region, attachment)) {
                return region;
            }
        }
    }

    boolean isAt(TenantSession attachment) {
        return place.attachment() == attachment;
    }

    /** Registers a lasting region at another life of the agent. It may be closed concurrently. */
    void renew(TenantSession attachment) {
        // Uses a descriptor of its own, since close does not wait for this.
        Optional<SharedFile> file = file();
        if (file.isPresent()) {
            try (SharedFile mine = file.get()) {
                move(attachment, attachment.questions.register(mine, rights, Patience.begin()));
            } catch (ControlPlaneException e) {
                if (!isClosed()) {
                    throw e;
                }
            }
        }
    }

    private synchronized Optional<SharedFile> file() {
        return closed
                ? Optional.empty()
                : backing.map(lasting -> lasting.file().window(0, lasting.file().bytes()));
    }

    private synchronized void move(TenantSession attachment, SessionRequests.Registered registered) {
        if (closed) {
            attachment.questions.deregister(registered.localKey());
        } else {
            place = new Place(attachment, registered);
        }
    }

    private synchronized boolean isClosed() {
        return closed;
    }

    @Override
    public MemorySegment memory() {
        return memory;
    }

    @Override
    public long address() {
        return place.registered().address();
    }

    @Override
    public long byteSize() {
        return memory.byteSize();
    }

    @Override
    public int localKey() {
        return place.registered().localKey();
    }

    @Override
    public int remoteKey() {
        return place.registered().remoteKey();
    }

    @Override
    public void close() {
        membership.forget(this);
        synchronized (this) {
            if (closed) {
                return;
            }
            closed = true;
        }
        // If the session is over, the agent has released the region.
        place.attachment().questions.deregister(place.registered().localKey());
        backing.ifPresent(Backing::close);
    }
}
