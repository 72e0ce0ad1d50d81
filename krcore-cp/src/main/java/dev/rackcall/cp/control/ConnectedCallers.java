package dev.rackcall.cp.control;

import dev.rackcall.cp.ControlPlaneException;
import dev.rackcall.cp.ControlPlaneException.Kind;
import dev.rackcall.cp.HostId;
import dev.rackcall.verbs.Access;
import dev.rackcall.verbs.CompletionQueue;
import dev.rackcall.verbs.CompletionQueueSpec;
import dev.rackcall.verbs.Gid;
import dev.rackcall.verbs.InitAttributes;
import dev.rackcall.verbs.QueuePair;
import dev.rackcall.verbs.QueuePairSpec;
import dev.rackcall.verbs.QueuePairType;
import dev.rackcall.verbs.ReadyToReceive;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.security.SecureRandom;
import java.util.EnumSet;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.function.Predicate;
import java.util.function.UnaryOperator;

/**
 * The server ends of RC queue pairs that other agents connect. A repeated request gets the same reply; a request with
 * another number reconnects its queue pair after a failure. Any thread may use it.
 *
 * <pre>
 *   request:  host (8) and epoch (4) of the receiver | host (8) and epoch (4) of the caller
 *             GID (16) | queue pair (4) | first packet (4) | number (8)
 *   reply:    queue pair (4) | first packet (4)
 * </pre>
 */
public final class ConnectedCallers implements AutoCloseable {
    static final int QUESTION_BYTES = 56;
    /** The bytes that identify a caller's queue pair: GID, number. */
    static final int NAME_BYTES = 20;

    private static final int MAX_CALLERS = 1024;
    private static final int PACKET_MASK = 0xFFFFFF;

    private record Name(Gid gid, int number) {}

    private record Caller(HostLife life, long question, QueuePair queuePair, int firstPacket) {
        byte[] answer() {
            return ByteBuffer.allocate(2 * Integer.BYTES)
                    .order(ByteOrder.nativeOrder())
                    .putInt(queuePair.number())
                    .putInt(firstPacket)
                    .array();
        }
    }

    private final HostDevice end;
    private final HostLife self;
    private final EnumSet<Access> rights;
    private final UnaryOperator<QueuePairSpec> receiving;
    private final Predicate<HostLife> isKnown;
    private final SecureRandom random = new SecureRandom();
    private final CompletionQueue completions;
    /** In the order of their connection. */
    private final LinkedHashMap<Name, Caller> callers = new LinkedHashMap<>();

    /**
     * @param self the life of this host, which callers must name
     * @param rights what callers may do
     * @param receiving sets where messages of callers arrive
     * @param isKnown whether this life of a host may connect
     */
    public ConnectedCallers(
            HostDevice end,
            HostLife self,
            EnumSet<Access> rights,
            UnaryOperator<QueuePairSpec> receiving,
            Predicate<HostLife> isKnown) {
        this.end = end;
        this.self = self;
        this.rights = rights;
        this.receiving = receiving;
        this.isKnown = isKnown;
        completions = end.keep(end.context().createCompletionQueue(CompletionQueueSpec.of(16)));
        end.keep(this);
    }

    public synchronized int count() {
        return callers.size();
    }

    /** Connects a queue pair of the device that asks. */
    public synchronized byte[] connect(Gid sender, ByteBuffer body) {
        HostLife asked = new HostLife(new HostId(body.getLong()), body.getInt());
        if (!asked.equals(self)) {
            throw new ControlPlaneException(Kind.REFUSED, "this is " + self + ", not " + asked);
        }
        HostLife caller = new HostLife(new HostId(body.getLong()), body.getInt());
        Name name = new Name(new Gid(body.getLong(), body.getLong()), body.getInt());
        int packet = body.getInt() & PACKET_MASK;
        if (!name.gid().equals(sender)) {
            // This device would connect to an address of the sender's choice.
            throw new ControlPlaneException(
                    Kind.REFUSED, sender + " asks for a connection of another device, " + name.gid());
        }
        long question = body.getLong();
        Caller known = callers.get(name);
        if (known != null && known.question() == question) {
            return known.answer();
        }
        if (known != null) {
            forget(name);
        }
        if (!isKnown.test(caller)) {
            throw new ControlPlaneException(
                    Kind.REFUSED, caller + ", is not registered here; its next renewal registers it");
        }
        closeAll(life -> life.host().equals(caller.host()) && !life.equals(caller));
        if (callers.size() >= MAX_CALLERS) {
            throw new ControlPlaneException(
                    Kind.QUOTA_EXCEEDED,
                    self.host() + " has " + callers.size()
                            + " connections of other hosts and takes no more; end some there");
        }
        Caller made = make(caller, name, packet, question);
        callers.put(name, made);
        return made.answer();
    }

    private Caller make(HostLife caller, Name name, int packet, long question) {
        QueuePair queuePair = end.domain()
                .createQueuePair(receiving.apply(
                        QueuePairSpec.of(QueuePairType.RC, completions).withDepth(1, 1)));
        try {
            queuePair.toInit(InitAttributes.connected(rights));
            queuePair.toReadyToReceive(
                    ReadyToReceive.from(end.pathTo(name.gid()), name.number()).withFirstPacket(packet));
            int first = random.nextInt() & PACKET_MASK;
            queuePair.toReadyToSend(end.patience().withFirstPacket(first));
            return new Caller(caller, question, queuePair, first);
        } catch (RuntimeException e) {
            queuePair.close();
            throw e;
        }
    }

    /** Closes the end of a caller that has closed its own. */
    public synchronized byte[] disconnect(ByteBuffer body) {
        forget(new Name(new Gid(body.getLong(), body.getLong()), body.getInt()));
        return new byte[0];
    }

    private void forget(Name name) {
        Caller gone = callers.remove(name);
        if (gone != null) {
            gone.queuePair().close();
        }
    }

    /** The next caller, in rotation. */
    public synchronized Optional<HostLife> next() {
        Optional<Map.Entry<Name, Caller>> oldest = callers.entrySet().stream().findFirst();
        oldest.ifPresent(entry -> callers.putLast(entry.getKey(), entry.getValue()));
        return oldest.map(entry -> entry.getValue().life());
    }

    /** Closes the connections of this life of a host. */
    public synchronized void close(HostLife gone) {
        closeAll(gone::equals);
    }

    private void closeAll(Predicate<HostLife> whose) {
        Iterator<Caller> all = callers.values().iterator();
        while (all.hasNext()) {
            Caller caller = all.next();
            if (whose.test(caller.life())) {
                caller.queuePair().close();
                all.remove();
            }
        }
    }

    @Override
    public synchronized void close() {
        closeAll(life -> true);
    }
}
