package dev.rackcall.verbs.real;

import dev.rackcall.verbs.AddressHandle;
import dev.rackcall.verbs.AddressVector;
import dev.rackcall.verbs.ffi.CapturedErrno;
import dev.rackcall.verbs.ffi.Libibverbs;
import java.util.concurrent.atomic.AtomicBoolean;

/** A struct ibv_ah. */
final class RealAddressHandle implements AddressHandle {
    private final RealContext context;
    private final AddressVector vector;
    private final long pointer;
    private final AtomicBoolean closed = new AtomicBoolean();

    RealAddressHandle(RealContext context, AddressVector vector, long pointer) {
        this.context = context;
        this.vector = vector;
        this.pointer = pointer;
        context.opened();
    }

    long pointer() {
        return pointer;
    }

    @Override
    public AddressVector vector() {
        return vector;
    }

    @Override
    public void close() {
        if (closed.compareAndSet(false, true)) {
            Closing.run(
                    closed,
                    () -> Libibverbs.ibvDestroyAh(CapturedErrno.current(), pointer),
                    "closing an address handle");
            context.closed();
        }
    }
}
