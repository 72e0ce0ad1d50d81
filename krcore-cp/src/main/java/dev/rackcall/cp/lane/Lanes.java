package dev.rackcall.cp.lane;

import dev.rackcall.cp.ControlPlaneException;
import dev.rackcall.cp.HostId;
import dev.rackcall.cp.control.ControlMessage;
import dev.rackcall.cp.control.ControlPort;
import dev.rackcall.cp.control.DcTarget;
import dev.rackcall.cp.control.HostDevice;
import dev.rackcall.cp.control.HostLife;
import dev.rackcall.cp.request.CheckedRequest;
import dev.rackcall.cp.request.KnownRegions;
import dev.rackcall.cp.request.PeerHost;
import dev.rackcall.cp.table.HostRecord;
import dev.rackcall.cp.table.RegionRecord;
import dev.rackcall.cp.table.TableReader;
import dev.rackcall.cp.table.TableReader.StaleTableException;
import dev.rackcall.verbs.AddressHandle;
import dev.rackcall.verbs.CompletionQueue;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import java.util.stream.Stream;

/**
 * All lanes of an agent. If the device has DC initiators, a few lanes serve all peers that have a DC target. Every
 * other peer has a lane of its own over an RC queue pair, which all virtual queues to it share. Any thread may use it.
 */
public final class Lanes {
    private static final long DRAIN_NANOS = 1_000_000_000L;
    private static final Duration PATIENCE = Duration.ofSeconds(2);

    /**
     * The number of shared lanes, their depth, and the validity of region records.
     *
     * @param count shared lanes, on devices with dynamically connected queue pairs
     * @param depth requests that may be in flight on one lane
     * @param validity how long a peer's record of a memory region is valid
     */
    public record Options(int count, int depth, Duration validity) {
        /** Checks the values. */
        public Options {
            if (count < 1 || depth < 2 || validity.isNegative()) {
                throw new IllegalArgumentException("an agent needs a lane of 2 requests at least, not " + count + " of "
                        + depth + ", and a validity that is not negative, not " + validity);
            }
        }
    }

    private record Own(Lane lane, LaneConnection connection) {}

    private final HostDevice end;
    private final ControlPort port;
    private final Optional<TableReader> reader;
    private final HostLife self;
    private final Options options;
    private final Consumer<PeerHost> doubted;
    private final Optional<SharedLanes> shared;
    /** Lanes of single peers; replaced, never changed. */
    private volatile Own[] own = {};

    private final Set<LaneConnection> connecting = ConcurrentHashMap.newKeySet();
    /** Set before {@link #connecting} is read; read after a connection is added there. So no connection is missed. */
    private volatile boolean stopped;

    private long formerRecoveries;

    /** @param doubted called with peers whose records may be stale */
    public Lanes(
            HostDevice end,
            ControlPort port,
            Optional<TableReader> reader,
            HostLife self,
            Options options,
            Consumer<PeerHost> doubted) {
        this.end = end;
        this.port = port;
        this.reader = reader;
        this.self = self;
        this.options = options;
        this.doubted = doubted;
        shared = end.isDynamic() ? Optional.of(sharedLanes()) : Optional.empty();
    }

    private SharedLanes sharedLanes() {
        int depth = options.depth();
        int count = options.count();
        LaneCompletions completions = new LaneCompletions(end.polledQueue(count * 4 * depth));
        List<Lane> made = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            LaneQueuePair connection = new LaneQueuePair.Initiator(
                    end,
                    end.initiator(completions.queue(), depth, CheckedRequest.MAX_SEGMENTS, CheckedRequest.MAX_INLINE));
            Lane lane = new Lane(connection, completions, depth, doubted);
            lane.resume();
            made.add(lane);
        }
        return new SharedLanes(made, completions);
    }

    /** Makes a peer, which is usable at once. */
    public LanePeer to(HostId host, HostRecord record) {
        if (shared.isPresent() && record.hasTarget()) {
            AddressHandle handle = end.handleTo(record.gid());
            DcTarget target = record.target(handle);
            KnownRegions regions = regions(key -> reader.orElseThrow()
                    .find(
                            target,
                            record.regions(),
                            RegionRecord.RECORD_BYTES,
                            RegionRecord.keyOf(key),
                            RegionRecord::read));
            Lane lane = shared.get().take();
            return new LanePeer(host, record, Optional.of(target), regions, lane, () -> {
                shared.get().giveBack(lane);
                handle.close();
            });
        }
        LaneConnection connection = new LaneConnection(end, port, self, host, record, options.depth());
        Own mine = own(connection);
        LanePeer peer = new LanePeer(
                host, record, Optional.empty(), regions(key -> ask(record, key)), mine.lane(), () -> close(mine));
        connection.begin(peer, mine.lane());
        return peer;
    }

    private KnownRegions regions(KnownRegions.Source source) {
        return new KnownRegions(source, options.validity().toNanos(), System::nanoTime);
    }

    private Own own(LaneConnection connection) {
        Own made = new Own(new Lane(connection, connection.completions(), options.depth(), doubted), connection);
        add(made);
        return made;
    }

    private void close(Own mine) {
        remove(mine);
        mine.connection().close();
    }

    /** Connects a queue pair of its own for a peer that shares a lane with others. Waits for the peer's reply. */
    public OwnQueuePairs.Made own(LanePeer peer) {
        LaneConnection connection = new LaneConnection(end, port, self, peer.host(), peer.record(), options.depth());
        connecting.add(connection);
        if (stopped) {
            connection.close();
        }
        try {
            connection.connect(peer);
        } catch (RuntimeException e) {
            connection.close();
            throw e;
        } finally {
            connecting.remove(connection);
        }
        Own mine = own(connection);
        mine.lane().resume();
        return new OwnQueuePairs.Made(mine.lane(), () -> close(mine));
    }

    /** Looks up a region by a control message, since the peer's table cannot be READ. */
    private Optional<RegionRecord> ask(HostRecord record, int key) throws StaleTableException {
        byte[] question = ByteBuffer.allocate(2 * Integer.BYTES)
                .order(ByteOrder.nativeOrder())
                .putInt(record.epoch())
                .putInt(key)
                .array();
        try {
            ByteBuffer answer = port.ask(record.controlAddress(), ControlMessage.REGION, question, PATIENCE);
            return answer.hasRemaining() ? Optional.of(RegionRecord.read(answer)) : Optional.empty();
        } catch (ControlPlaneException e) {
            throw new StaleTableException(e.getMessage());
        }
    }

    private synchronized void add(Own mine) {
        own = Stream.concat(Stream.of(own), Stream.of(mine)).toArray(Own[]::new);
    }

    private synchronized void remove(Own mine) {
        own = Stream.of(own).filter(other -> other != mine).toArray(Own[]::new);
        formerRecoveries += mine.lane().recoveries();
    }

    /** Queue pairs that are connected to single peers. */
    public int ownQueuePairs() {
        return own.length;
    }

    public synchronized long recoveries() {
        long sum = formerRecoveries + shared.map(SharedLanes::recoveries).orElse(0L);
        for (Own each : own) {
            sum += each.lane().recoveries();
        }
        return sum;
    }

    /** Passes completions on; returns whether requests were in flight. */
    public boolean pollIfBusy() {
        boolean busy = shared.isPresent() && shared.get().pollIfBusy();
        for (Own each : own) {
            if (each.lane().isBusy()) {
                each.lane().poll();
                busy = true;
            }
        }
        return busy;
    }

    /** Polls the device even if no request is in flight: a peer may write. */
    public void look() {
        Own[] all = own;
        if (shared.isPresent()) {
            shared.get().completions.poll();
        } else if (all.length > 0) {
            // One completion queue is enough to move the traffic of all.
            all[0].lane().poll();
        }
    }

    /** Called before a thread that polls sleeps; see {@link CompletionQueue#rest}. */
    public void rest() {
        Own[] all = own;
        if (shared.isPresent()) {
            shared.get().completions.rest();
        } else if (all.length > 0) {
            all[0].lane().rest();
        }
    }

    /** Cancels connections in progress. */
    public void stopConnecting() {
        stopped = true;
        connecting.forEach(LaneConnection::close);
    }

    /** Notifies peers that the connections to them end now. */
    public void announceEnd() {
        for (Own each : own) {
            each.connection().announceEnd();
        }
    }

    /** Waits until no request of this tenant is in flight, at most a second. */
    public void drain(LaneTenant tenant) {
        long start = System.nanoTime();
        while (tenant.held() > 0 && System.nanoTime() - start < DRAIN_NANOS) {
            pollIfBusy();
            // Many tenants may close at a time, and the threads that end their requests need a processor.
            Thread.yield();
        }
    }

    /**
     * The lanes that all peers with a DC target share. An initiator serves one target at a time and waits for its
     * replies before it serves the next; several initiators work in parallel. Each peer uses one lane, which keeps its
     * requests in order. Any thread may use it.
     */
    private static final class SharedLanes {
        private final Lane[] lanes;
        /** Peers of each lane; guarded by the monitor. */
        private final int[] peers;

        private final LaneCompletions completions;

        SharedLanes(List<Lane> lanes, LaneCompletions completions) {
            this.lanes = lanes.toArray(Lane[]::new);
            this.completions = completions;
            peers = new int[this.lanes.length];
        }

        /** The lane with the fewest peers, for one more. */
        synchronized Lane take() {
            int least = 0;
            for (int i = 1; i < lanes.length; i++) {
                least = peers[i] < peers[least] ? i : least;
            }
            peers[least]++;
            return lanes[least];
        }

        /** Called when a peer that used this lane is gone. */
        synchronized void giveBack(Lane lane) {
            for (int i = 0; i < lanes.length; i++) {
                peers[i] -= lanes[i] == lane ? 1 : 0;
            }
        }

        /** Passes completions on; returns whether requests were in flight. */
        boolean pollIfBusy() {
            boolean busy = false;
            for (Lane lane : lanes) {
                busy |= lane.isBusy();
            }
            if (busy) {
                completions.poll();
            }
            return busy;
        }

        long recoveries() {
            long sum = 0;
            for (Lane lane : lanes) {
                sum += lane.recoveries();
            }
            return sum;
        }
    }
}
