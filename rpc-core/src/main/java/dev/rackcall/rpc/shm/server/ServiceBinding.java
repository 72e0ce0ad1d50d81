package dev.rackcall.rpc.shm.server;

import dev.rackcall.rpc.EnforcedSeals;
import dev.rackcall.rpc.Isolation;
import dev.rackcall.rpc.MethodDescriptor;
import dev.rackcall.rpc.SandboxPolicy;
import dev.rackcall.rpc.ServerInterceptor;
import dev.rackcall.rpc.runtime.KryoCodec;
import dev.rackcall.rpc.spi.Dispatcher;
import dev.rackcall.rpc.spi.ServerSpec;
import dev.rackcall.sandbox.ArgumentSpace;
import dev.rackcall.sandbox.SnapshotBudget;
import dev.rackcall.sandbox.SnapshotMemory;
import dev.rackcall.shm.ArenaTable;
import dev.rackcall.shm.codec.ObjectCodec;

/** One service of a server, ready to be called: its dispatcher, its methods as an array, the interceptors of the server. */
final class ServiceBinding {
    private static final long SNAPSHOT_BYTES_KEPT = 64L << 20;

    private final Dispatcher dispatcher;
    private final MethodDescriptor[] methods;
    private final ServerInterceptor[] interceptors;
    private final ObjectCodec objects;
    private final SharedPool shared;
    private final Scratch scratch;
    private final Isolation[] demanded;
    private final boolean enforced;
    private final ArenaTable declared = ArenaTable.create();
    private final SnapshotMemory snapshots;
    private final long maxRefs;
    private final ServerSpec.Service<?> service;

    ServiceBinding(ServerSpec.Service<?> service, ServerSpec spec, SharedPool shared, Scratch scratch) {
        this.service = service;
        this.dispatcher = service.dispatcher();
        this.methods = service.definition().methods().toArray(MethodDescriptor[]::new);
        this.interceptors = spec.interceptors().toArray(ServerInterceptor[]::new);
        this.objects = KryoCodec.of(service.definition().registered());
        this.shared = shared;
        this.scratch = scratch;
        this.enforced =
                spec.sandbox().enforcedSeals().filter(EnforcedSeals::isRequired).isPresent();
        Isolation least = enforced ? stricter(spec.minimumIsolation(), Isolation.SEALED) : spec.minimumIsolation();
        this.demanded = service.definition().methods().stream()
                .map(method -> stricter(method.isolation(), least))
                .toArray(Isolation[]::new);
        SandboxPolicy sandbox = spec.sandbox();
        this.snapshots = new SnapshotMemory(sandbox.maxSnapshotBytes(), SNAPSHOT_BYTES_KEPT);
        this.maxRefs = sandbox.maxRefs();
        if (sandbox.sharedArena()) {
            declared.add(shared.arena());
        }
        sandbox.arenas().forEach(declared::add);
    }

    String channel() {
        return service.definition().channel();
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

    ObjectCodec objects() {
        return objects;
    }

    /** What the method's declaration and the server ask of a call that passes shared objects. */
    Isolation demanded(int index) {
        return demanded[index];
    }

    /** Whether a seal must be one that its client cannot lift. */
    boolean demandsEnforcedSeals() {
        return enforced;
    }

    /** Declaration order is strictness, but for AUTO, which asks no more than that no caller need be believed. */
    private static Isolation stricter(Isolation first, Isolation second) {
        return first.compareTo(second) >= 0 ? first : second;
    }

    /** For the isolated arguments of one slot's calls. */
    ArgumentSpace newArgumentSpace(SnapshotBudget budget) {
        return new ArgumentSpace(declared, snapshots, budget, maxRefs);
    }

    /** Where handlers allocate for the time of a call. */
    Scratch scratch() {
        return scratch;
    }

    /** The arena that all clients of the channel share. */
    SharedPool shared() {
        return shared;
    }

    ServerInterceptor[] interceptors() {
        return interceptors;
    }

    /** Decodes the arguments, calls the service, and encodes the result: generated. */
    Dispatcher dispatcher() {
        return dispatcher;
    }
}
