package dev.rackcall.rpc.shm.server;

import dev.rackcall.rpc.EnforcedSeals;
import dev.rackcall.rpc.Isolation;
import dev.rackcall.rpc.MethodDescriptor;
import dev.rackcall.rpc.SandboxPolicy;
import dev.rackcall.rpc.ServerInterceptor;
import dev.rackcall.rpc.Status;
import dev.rackcall.rpc.runtime.KryoCodec;
import dev.rackcall.rpc.shm.protocol.SlotLayout;
import dev.rackcall.rpc.spi.CallMeters;
import dev.rackcall.rpc.spi.Dispatcher;
import dev.rackcall.rpc.spi.ServerSpec;
import dev.rackcall.sandbox.ArgumentSpace;
import dev.rackcall.sandbox.SnapshotBudget;
import dev.rackcall.sandbox.SnapshotMemory;
import dev.rackcall.shm.ArenaTable;
import dev.rackcall.shm.RefSpace;
import dev.rackcall.shm.codec.ObjectCodec;

/** One service of a server, ready to be called: its dispatcher, its methods, and the server's interceptors. */
final class ServiceBinding {
    private static final long SNAPSHOT_BYTES_KEPT = 64L << 20;

    private final Dispatcher dispatcher;
    private final MethodDescriptor[] methods;
    private final boolean receivesStreams;
    private final ServerInterceptor[] interceptors;
    private final CallMeters meters;
    private final ObjectCodec objects;
    private final SharedPool shared;
    private final Scratch scratch;
    private final Isolation[] demanded;
    private final boolean enforced;
    private final ArenaTable declared = ArenaTable.createReadOnly();
    private final SnapshotMemory snapshots;
    private final long maxRefs;
    private final ServerSpec.Service<?> service;
    private final ServerSpec spec;

    ServiceBinding(ServerSpec.Service<?> service, ServerSpec spec, SharedPool shared, Scratch scratch) {
        this.service = service;
        this.spec = spec;
        this.dispatcher = service.dispatcher();
        this.methods = service.definition().methods().toArray(MethodDescriptor[]::new);
        if (methods.length > SlotLayout.MAX_METHODS) {
            throw Status.Code.INVALID_ARGUMENT
                    .with(
                            "channel %s: %s has %d methods; split it into services of %d at most",
                            service.channel(),
                            service.definition().type().getName(),
                            methods.length,
                            SlotLayout.MAX_METHODS)
                    .asException();
        }
        this.receivesStreams = service.definition().methods().stream()
                .anyMatch(method -> method.kind().sendsStream());
        this.interceptors = spec.interceptors().toArray(ServerInterceptor[]::new);
        this.meters = CallMeters.ofServer(spec.meters(), service.definition().methods());
        this.objects = KryoCodec.of(service.definition().registered());
        this.shared = shared;
        this.scratch = scratch;
        this.enforced = spec.trust()
                .sandbox()
                .enforcedSeals()
                .filter(EnforcedSeals::isRequired)
                .isPresent();
        Isolation least = enforced
                ? stricter(spec.trust().minimum(), Isolation.SEALED)
                : spec.trust().minimum();
        this.demanded = service.definition().methods().stream()
                .map(method -> stricter(method.isolation(), least))
                .toArray(Isolation[]::new);
        SandboxPolicy sandbox = spec.trust().sandbox();
        this.snapshots = new SnapshotMemory(sandbox.maxSnapshotBytes(), SNAPSHOT_BYTES_KEPT);
        this.maxRefs = sandbox.maxRefs();
        if (sandbox.sharedArena()) {
            declared.add(shared.arena());
        }
        sandbox.arenas().forEach(declared::add);
    }

    String channel() {
        return service.channel();
    }

    /** The settings of its server. */
    ServerSpec spec() {
        return spec;
    }

    ServerSpec.Service<?> service() {
        return service;
    }

    boolean hasMethod(int index) {
        return index < methods.length;
    }

    MethodDescriptor method(int index) {
        return methods[index];
    }

    /** Whether callers of some method send a stream. */
    boolean receivesStreams() {
        return receivesStreams;
    }

    ObjectCodec objects() {
        return objects;
    }

    /** The isolation that the method and the server demand of calls that pass shared objects. */
    Isolation demanded(int index) {
        return demanded[index];
    }

    /** Whether a seal must be one that its client cannot lift. */
    boolean demandsEnforcedSeals() {
        return enforced;
    }

    /** Declaration order is strictness, except for AUTO, which only demands that no caller is trusted. */
    private static Isolation stricter(Isolation first, Isolation second) {
        return first.compareTo(second) >= 0 ? first : second;
    }

    /** A new space for the isolated arguments of one slot's calls. */
    ArgumentSpace newArgumentSpace(SnapshotBudget budget) {
        return new ArgumentSpace(declared, snapshots, budget, maxRefs);
    }

    /** A new space for the trusted arguments of one slot's calls that write. */
    ArgumentSpace newTrustingSpace(RefSpace elsewhere, SnapshotBudget budget) {
        return ArgumentSpace.trusting(elsewhere, snapshots, budget);
    }

    /** Where handlers allocate their temporary scopes. */
    Scratch scratch() {
        return scratch;
    }

    /** The channel's shared arena. */
    SharedPool shared() {
        return shared;
    }

    /** The server's, which run around the handlers of all its services. */
    ServerInterceptor[] interceptors() {
        return interceptors;
    }

    /** Whether an interceptor is enabled. Asked for each call. */
    boolean isIntercepted() {
        for (ServerInterceptor each : interceptors) {
            try {
                if (each.isEnabled()) {
                    return true;
                }
            } catch (Throwable _) {
                // The chain asks again, and the call ends with what is thrown.
                return true;
            }
        }
        return false;
    }

    /** Those of the server's meters that measure this service. */
    CallMeters meters() {
        return meters;
    }

    /** Generated: decodes the arguments, calls the service, and encodes the result. */
    Dispatcher dispatcher() {
        return dispatcher;
    }
}
