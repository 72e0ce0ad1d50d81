package dev.rackcall.rpc.shm.mirror;

import dev.rackcall.rpc.Status;
import dev.rackcall.rpc.spi.Carrier;
import dev.rackcall.rpc.spi.CarrierProvider;
import dev.rackcall.shm.os.file.Mapping;
import dev.rackcall.shm.os.file.SharedFile;
import dev.rackcall.testkit.Await;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.URI;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;

/**
 * Carriers without any device, within a process: a thread for each direction copies from one memory into the other, a
 * little later than it was asked to, as a device does. What must not change meanwhile is read then; what may is read at
 * once.
 */
public final class CopyCarriers implements CarrierProvider {
    private static final Map<URI, Reception> LISTENERS = new ConcurrentHashMap<>();
    private static final ThreadLocal<long[]> LOOKS = ThreadLocal.withInitial(() -> new long[1]);

    /** How often threads of each name have announced that they sleep. */
    private static final Map<String, Integer> LISTENS = new ConcurrentHashMap<>();

    private static final Map<URI, CopyCarrier> CLIENTS = new ConcurrentHashMap<>();

    private static final Map<URI, CountDownLatch> GATES = new ConcurrentHashMap<>();

    /** For the service loader. */
    public CopyCarriers() {}

    /** The server of that address takes its next connections only when the latch is open; their clients do not wait. */
    public static void holdConnections(URI address, CountDownLatch mayTake) {
        GATES.put(address, mayTake);
    }

    /** How often the calling thread has looked for what may have arrived. */
    public static long looksOfThisThread() {
        return LOOKS.get()[0];
    }

    /** How often threads of this name have announced that they sleep. */
    public static int listens(String thread) {
        return LISTENS.getOrDefault(thread, 0);
    }

    /** Rings the last client of an address, as for an earlier answer. */
    public static void ringClient(URI address) {
        CLIENTS.get(address).arrivals.published();
    }

    @Override
    public String scheme() {
        return "copy";
    }

    @Override
    public Greeted connect(URI address, Memory memory, ByteBuffer hello, int publications, Duration timeout) {
        Reception reception = LISTENERS.get(address);
        if (reception == null) {
            throw Status.Code.UNAVAILABLE
                    .with("no server listens at %s", address)
                    .asException();
        }
        Inspection inspection = reception.inspect(hello.duplicate(), Set.of());
        if (inspection.refusal().isPresent()) {
            return new Greeted(inspection.refusal().get(), Optional.empty());
        }
        Answer answer = reception.greet(hello);
        if (answer.seat().isEmpty()) {
            return new Greeted(answer.welcome(), Optional.empty());
        }
        Seat seat = answer.seat().get();
        CopyCarrier client = new CopyCarrier(memory.mapped());
        CopyCarrier server = new CopyCarrier(seat.memory().mapped());
        CLIENTS.put(address, client);
        client.peer = server;
        server.peer = client;
        CountDownLatch gate = GATES.get(address);
        if (gate == null) {
            seat.take(server);
        } else {
            Thread.ofPlatform().daemon().start(() -> {
                Await.latch(gate);
                seat.take(server);
            });
        }
        return new Greeted(answer.welcome(), Optional.of(client));
    }

    @Override
    public Listener listen(URI address, Reception reception) {
        LISTENERS.put(address, reception);
        return new Listener() {
            @Override
            public URI address() {
                return address;
            }

            @Override
            public void close() {
                LISTENERS.remove(address, reception);
            }
        };
    }

    private static final class CopyCarrier implements Carrier {
        private final MemorySegment memory;
        private final ExecutorService thread = Executors.newSingleThreadExecutor(
                Thread.ofPlatform().daemon().name("copy-", 0).factory());
        private final CountDownLatch started = new CountDownLatch(1);
        private CopyCarrier peer;
        private Arrivals arrivals;
        private Mapping area;
        private boolean closed;

        CopyCarrier(MemorySegment memory) {
            this.memory = memory;
        }

        @Override
        public void start(Arrivals listener) {
            arrivals = listener;
            started.countDown();
        }

        @Override
        public long clockAhead() {
            return 0;
        }

        private boolean later(Runnable copy) {
            try {
                thread.execute(copy);
                return true;
            } catch (RejectedExecutionException e) {
                return false;
            }
        }

        @Override
        public boolean carry(long offset, long length) {
            return later(() -> peer.write(offset, memory.asSlice(offset, length)));
        }

        @Override
        public boolean carryChanged(long offset, long length) {
            byte[] bytes = memory.asSlice(offset, length).toArray(ValueLayout.JAVA_BYTE);
            return later(() -> peer.write(offset, MemorySegment.ofArray(bytes)));
        }

        @Override
        public boolean store(long offset, long value) {
            return later(() -> peer.word(offset, value));
        }

        @Override
        public boolean publish(long offset, long value) {
            return later(() -> {
                if (peer.word(offset, value)) {
                    peer.arrivals.published();
                }
            });
        }

        @Override
        public boolean proclaim(long offset, long value) {
            return publish(offset, value);
        }

        @Override
        public boolean flush() {
            return true;
        }

        @Override
        public void look() {
            // What arrives does so by itself: the peer's thread writes it here.
            LOOKS.get()[0]++;
        }

        @Override
        public void listen() {
            // Everything is reported, once started.
            assert peer != null;
            LISTENS.merge(Thread.currentThread().getName(), 1, Integer::sum);
        }

        @Override
        public void fetchInto(SharedFile file) {
            area = file.map();
        }

        @Override
        public boolean fetch(long offset, long areaOffset, long length, long deadline) {
            return peer.read(offset, area.memory().asSlice(areaOffset, length));
        }

        private synchronized boolean read(long offset, MemorySegment into) {
            if (!closed) {
                MemorySegment.copy(memory, offset, into, 0, into.byteSize());
            }
            return !closed;
        }

        @Override
        public boolean tell(long number) {
            return later(() -> {
                if (peer.isStarted()) {
                    peer.arrivals.told(number);
                }
            });
        }

        private boolean isStarted() {
            try {
                started.await();
                return true;
            } catch (InterruptedException e) {
                return false;
            }
        }

        private synchronized void write(long offset, MemorySegment bytes) {
            if (!closed) {
                MemorySegment.copy(bytes, 0, memory, offset, bytes.byteSize());
            }
        }

        private boolean word(long offset, long value) {
            if (!isStarted()) {
                return false;
            }
            synchronized (this) {
                if (!closed) {
                    ValueLayout.JAVA_LONG.varHandle().setRelease(memory, offset, value);
                }
                return !closed;
            }
        }

        @Override
        public void close() {
            synchronized (this) {
                if (closed) {
                    return;
                }
                closed = true;
            }
            thread.shutdown();
            try {
                // What was published before the end still arrives.
                thread.awaitTermination(1, TimeUnit.SECONDS);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
            if (area != null) {
                area.close();
            }
            peer.hearOfTheEnd();
        }

        /** On a thread of its own: the closing thread holds locks. */
        private void hearOfTheEnd() {
            Thread.ofVirtual().start(() -> {
                thread.shutdown();
                if (isStarted()) {
                    arrivals.ended();
                }
            });
        }
    }
}
