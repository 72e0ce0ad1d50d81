package dev.rackcall.cp;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;

import dev.rackcall.cp.ControlPlaneException.Kind;
import dev.rackcall.shm.os.Mapping;
import dev.rackcall.shm.os.Message;
import dev.rackcall.shm.os.OsException;
import dev.rackcall.shm.os.SharedFile;
import dev.rackcall.shm.os.Uid;
import dev.rackcall.shm.os.UnixSocket;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A tenant's side of its session with one life of the agent process: the socket, the memory, and a thread that hears when the agent has died. Any
 * thread may use it.
 */
final class Attachment implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(Attachment.class);
    private static final Duration ANSWER_TIME = Duration.ofSeconds(5);
    private static final Duration TURN = Duration.ofSeconds(1);
    private static final int SPINS = 5_000;
    private static final int YIELDS = 100;
    private static final int FEW_YIELDS = 10;
    /** Threads of this process that wait for an agent's answer now. */
    private static final AtomicInteger WAITING = new AtomicInteger();

    private static final long PAUSE_NANOS = 50_000;
    private static final long LONGEST_PAUSE_NANOS = 1_000_000;
    private static final int MAX_NAME = 100;
    /** Bytes before the local key in the answer to REGISTER: address and length. */
    private static final int KEY_BEHIND = 2 * Long.BYTES;

    private static final ExecutorService LISTENERS = SparePlatformThreads.create("rackcall-agent");

    private final UnixSocket socket;
    private final Mapping mapping;
    private final MemorySegment memory;
    private final SessionLayout layout;
    private final EntryRing ring;
    private final PlaceBook places;
    private final int agent;
    private final HostId host;
    private final boolean hardware;
    private final AtomicLong numbers = new AtomicLong();
    /** Questions that are not answered yet, whether or not anybody waits for the answers. */
    private final Map<Long, CompletableFuture<SessionMessage>> asked = new ConcurrentHashMap<>();
    /** What is to run when a message has come. */
    private final List<Runnable> arrivals = new CopyOnWriteArrayList<>();
    /** Queues and ports that are open, and how they are closed. */
    private final Map<Object, Runnable> users = new HashMap<>();
    /** Whether {@link #mapping} goes with the last user; guarded by the users. */
    private boolean released;

    private volatile boolean dead;

    private Attachment(UnixSocket socket, SessionMessage welcome, SharedFile file) {
        this.socket = socket;
        ByteBuffer body = welcome.body();
        layout = new SessionLayout(body.getInt(), body.getInt(), body.getInt());
        host = new HostId(body.getLong());
        hardware = body.getInt() != 0;
        if (file.bytes() < layout.byteSize()) {
            throw new IllegalArgumentException("the agent's memory has " + file.bytes() + " bytes, not the "
                    + layout.byteSize() + " that it says");
        }
        mapping = file.map();
        memory = mapping.memory();
        ring = new EntryRing(memory, layout);
        places = new PlaceBook(memory, layout);
        agent = socket.peer().pid();
    }

    /** @throws ControlPlaneException UNREACHABLE if no agent listens there, or what it says */
    static Attachment open(Path path, String name) {
        return open(path, name, SessionLayout.VERSION, Uid.current());
    }

    static Attachment open(Path path, String name, int version, int uid) {
        UnixSocket socket;
        try {
            socket = UnixSocket.connect(path);
        } catch (OsException e) {
            throw new ControlPlaneException(
                    Kind.UNREACHABLE,
                    "no agent process listens at " + path + " (" + e.getMessage() + "); start ./rackcall agent");
        }
        try {
            requireTrusted(socket, uid);
            byte[] bytes = name.getBytes(StandardCharsets.UTF_8);
            ByteBuffer body = SessionMessage.newBody()
                    .put(Arrays.copyOf(bytes, Math.min(MAX_NAME, bytes.length)))
                    .flip();
            socket.send(new SessionMessage(version, SessionMessage.HELLO, 0, body).toBytes());
            // Heard by a thread that may block in the kernel: a virtual one would have to look again and again.
            CompletableFuture<Attachment> welcome = new CompletableFuture<>();
            LISTENERS.execute(() -> hear(path, socket, welcome));
            return welcome.join();
        } catch (CompletionException e) {
            throw heard(path, socket, e.getCause());
        } catch (RuntimeException | Error e) {
            throw heard(path, socket, e);
        }
    }

    /** Why there is no session. */
    private static RuntimeException heard(Path path, UnixSocket socket, Throwable cause) {
        socket.close();
        return switch (cause) {
            case OsException e -> endedEarly(path, e);
            case IllegalArgumentException e -> endedEarly(path, e);
            case RuntimeException e -> e;
            case Error e -> throw e;
            default -> new IllegalStateException("nothing else is thrown there", cause);
        };
    }

    private static ControlPlaneException endedEarly(Path path, RuntimeException e) {
        return new ControlPlaneException(
                Kind.UNREACHABLE, "the agent at " + path + " ended during the hello: " + e.getMessage());
    }

    /** Takes the agent's answer to the hello, and then what it says as long as it lives. */
    private static void hear(Path path, UnixSocket socket, CompletableFuture<Attachment> welcome) {
        Attachment made;
        try {
            made = greeted(path, socket);
        } catch (RuntimeException | Error e) {
            welcome.completeExceptionally(e);
            return;
        }
        Thread.currentThread().setName("rackcall-agent-" + made.agent);
        welcome.complete(made);
        made.listen();
    }

    private static void requireTrusted(UnixSocket socket, int uid) {
        int other = socket.peer().uid();
        if (other != uid && other != 0) {
            throw new ControlPlaneException(
                    Kind.REFUSED,
                    "at " + socket + " listens user " + other + ", whom user " + uid
                            + " need not trust; choose a folder that nobody else can write");
        }
    }

    private static Attachment greeted(Path path, UnixSocket socket) {
        Message answer = socket.receive(ANSWER_TIME)
                .orElseThrow(() -> new ControlPlaneException(
                        Kind.UNREACHABLE,
                        "the agent at " + path + " has not answered within " + ANSWER_TIME.toSeconds()
                                + " s; is it stopped?"));
        try {
            if (answer.isEnd()) {
                throw new IllegalArgumentException("it has closed the connection");
            }
            SessionMessage welcome = judge(SessionMessage.read(answer.bytes()));
            if (welcome.version() != SessionLayout.VERSION || answer.fds().length != 1) {
                throw new ControlPlaneException(
                        Kind.REFUSED,
                        "the agent at " + path + " speaks version " + welcome.version() + ", this process version "
                                + SessionLayout.VERSION + "; update the older side");
            }
            try (SharedFile file = answer.adopt(0)) {
                return new Attachment(socket, welcome, file);
            }
        } finally {
            answer.closeFds();
        }
    }

    private static SessionMessage judge(SessionMessage answer) {
        if (answer.kind() == SessionMessage.REFUSAL) {
            Kind kind = Kind.values()[answer.body().getInt()];
            throw new ControlPlaneException(kind, "the agent process refuses: " + answer.text());
        }
        return answer;
    }

    private void listen() {
        try {
            while (!dead) {
                Optional<Message> message = socket.receive(TURN);
                if (message.isPresent()) {
                    message.get().closeFds();
                    if (message.get().isEnd()) {
                        break;
                    }
                    hear(message.get().bytes());
                }
            }
        } catch (OsException | IllegalStateException | IllegalArgumentException gone) {
            // The end of the socket, one way or the other.
            dead = true;
        } finally {
            die();
            // Who looks hears of the end.
            tell();
        }
    }

    /** Nobody is answered any more. */
    private void die() {
        dead = true;
        socket.close();
        // Volatile write above, then this look; who asks enters its question, and then looks whether this has died.
        asked.values().forEach(answer -> answer.cancel(false));
        asked.clear();
    }

    private void hear(byte[] bytes) {
        if (bytes.length == 1) {
            tell();
            return;
        }
        SessionMessage answer = SessionMessage.read(bytes);
        Optional.ofNullable(asked.remove(answer.number())).ifPresent(waiting -> waiting.complete(answer));
    }

    /** A message has come, for one of them. */
    private void tell() {
        for (Runnable arrival : arrivals) {
            try {
                arrival.run();
            } catch (RuntimeException | Error e) {
                LOG.warn("a message's arrival could not be told of; the session goes on", e);
            }
        }
    }

    /** Nobody is told by this any more. */
    void forget(Runnable arrival) {
        arrivals.remove(arrival);
    }

    /** Whether the agent has died, or this session was closed. */
    boolean isDead() {
        return dead;
    }

    /** The agent's. */
    HostId host() {
        return host;
    }

    /** Whether the agent's device is one in hardware. */
    boolean isHardware() {
        return hardware;
    }

    /** What to say of it then. */
    String obituary() {
        return "the agent process " + agent + " has ended; connect again, which waits for the next one";
    }

    SessionLayout layout() {
        return layout;
    }

    MemorySegment memory() {
        return memory;
    }

    EntryRing ring() {
        return ring;
    }

    ForeignRegion.Registered register(SharedFile file, int rights) {
        ByteBuffer body = SessionMessage.newBody().putInt(rights).flip();
        ByteBuffer answer = ask(SessionMessage.REGISTER, body, file.fd()).body();
        long address = answer.getLong();
        long length = answer.getLong();
        int localKey = answer.getInt();
        if (length != file.bytes()) {
            giveBack(localKey);
            throw new ControlPlaneException(
                    Kind.REFUSED, "the agent has registered " + length + " bytes of " + file + ", not all");
        }
        return new ForeignRegion.Registered(this, address, localKey, answer.getInt());
    }

    /** What was registered for somebody who had given up before: nobody else knows of it, and it would stay as long as this session. */
    private void giveBackOrphan(SessionMessage answer) {
        if (answer.kind() == SessionMessage.ANSWER) {
            giveBack(answer.body().getInt(KEY_BEHIND));
        }
    }

    /** Nobody uses that region, so nobody need wait until the agent has let go of it. */
    private void giveBack(int localKey) {
        try {
            say(
                    SessionMessage.DEREGISTER,
                    numbers.incrementAndGet(),
                    SessionMessage.newBody().putInt(localKey).flip());
        } catch (OsException | IllegalStateException e) {
            if (!dead) {
                LOG.warn("the agent process {} keeps a region that nobody uses: {}", agent, e.getMessage());
            }
        }
    }

    /** Of a dead agent nothing is registered. */
    void deregister(int localKey) {
        if (dead) {
            return;
        }
        try {
            ask(
                    SessionMessage.DEREGISTER,
                    SessionMessage.newBody().putInt(localKey).flip());
        } catch (ControlPlaneException e) {
            if (!dead) {
                throw e;
            }
        }
    }

    private SessionMessage ask(int kind, ByteBuffer body, int... fds) {
        long number = numbers.incrementAndGet();
        CompletableFuture<SessionMessage> answer = new CompletableFuture<>();
        asked.put(number, answer);
        try {
            say(kind, number, body, fds);
        } catch (OsException | IllegalStateException e) {
            asked.remove(number);
            throw new ControlPlaneException(Kind.UNREACHABLE, obituary() + " (" + e.getMessage() + ")");
        }
        // Partner: die.
        if (dead) {
            answer.cancel(false);
        }
        try {
            return judge(answer.get(ANSWER_TIME.toNanos(), TimeUnit.NANOSECONDS));
        } catch (CancellationException e) {
            throw new ControlPlaneException(Kind.UNREACHABLE, obituary());
        } catch (ExecutionException e) {
            throw new IllegalStateException("nobody lets an answer fail", e);
        } catch (TimeoutException e) {
            abandon(kind, answer);
            throw silent();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            abandon(kind, answer);
            throw new ControlPlaneException(
                    Kind.UNREACHABLE, "interrupted while the agent process " + agent + " was to answer; try again");
        }
    }

    private void say(int kind, long number, ByteBuffer body, int... fds) {
        socket.send(SessionMessage.of(kind, number, body).toBytes(), fds);
    }

    /** Nobody waits for that answer any more; the agent does what it was asked for all the same. Now, if it has just answered. */
    private void abandon(int kind, CompletableFuture<SessionMessage> answer) {
        if (kind == SessionMessage.REGISTER) {
            CompletableFuture<Void> _ = answer.thenAccept(this::giveBackOrphan);
        }
    }

    private ControlPlaneException silent() {
        return new ControlPlaneException(
                Kind.UNREACHABLE,
                dead
                        ? obituary()
                        : "the agent process " + agent + " has not answered within " + ANSWER_TIME.toSeconds()
                                + " s; is it stopped?");
    }

    VirtualQueue connect(HostId host, Optional<ControlAddress> address) {
        return queue(awaitOpen(ask((at, id) -> ring.connect(at, id, host, address))), host);
    }

    /** All of them, or none: the agent gets all entries before the first answer is waited for. */
    List<VirtualQueue> connect(List<HostId> hosts) {
        List<VirtualQueue> made = new ArrayList<>(hosts.size());
        Deque<Asked> open = new ArrayDeque<>();
        try {
            for (HostId host : hosts) {
                open.add(ask((at, id) -> ring.connect(at, id, host, Optional.empty())));
            }
            for (HostId host : hosts) {
                made.add(queue(awaitOpen(open.poll()), host));
            }
        } catch (RuntimeException e) {
            // In the order in which they were asked for, so each of them is there, or refused, when its end is taken.
            open.forEach(asked -> close(asked.place()));
            made.forEach(VirtualQueue::close);
            throw e;
        }
        return List.copyOf(made);
    }

    private VirtualQueue queue(int place, HostId host) {
        ForeignQueue queue = new ForeignQueue(this, place, host);
        return keep(queue, queue::close);
    }

    /** @param arrival runs when a message has come, and when the agent has ended */
    MessagePort bind(int number, Optional<Runnable> arrival) {
        // Before the agent knows of it: what comes at once is to be told of.
        arrival.ifPresent(arrivals::add);
        try {
            int place = awaitOpen(ask((at, id) -> ring.bind(at, id, number, arrival.isPresent())));
            ForeignPort port = new ForeignPort(this, place, number, arrival);
            return keep(port, port::close);
        } catch (RuntimeException e) {
            arrival.ifPresent(this::forget);
            throw e;
        }
    }

    /** Something that is asked for by an entry. */
    @FunctionalInterface
    private interface Opening {
        boolean ask(int place, long id);
    }

    /** A place that was asked for, and the id by which the agent answers. */
    private record Asked(int place, long id) {}

    /** Asks for a place that {@link #awaitOpen} then waits for. */
    private Asked ask(Opening opening) {
        int place = places.take();
        long id = numbers.incrementAndGet();
        long start = System.nanoTime();
        while (!opening.ask(place, id)) {
            if (dead || System.nanoTime() - start > ANSWER_TIME.toNanos()) {
                places.giveBack(place);
                throw silent();
            }
            LockSupport.parkNanos(PAUSE_NANOS);
        }
        published();
        return new Asked(place, id);
    }

    /** Returns a place that is open. */
    private int awaitOpen(Asked asked) {
        int place = asked.place();
        if (!awaitAnswer(place, asked.id(), ANSWER_TIME.toNanos())) {
            // Taken after the other, if ever.
            close(place);
            throw silent();
        }
        long at = layout.place(place);
        int outcome = memory.get(JAVA_INT, at + SessionLayout.OUTCOME);
        if (outcome != SessionLayout.OPEN) {
            String text = text(at);
            places.giveBack(place);
            throw new ControlPlaneException(Kind.values()[outcome - 1], text);
        }
        return place;
    }

    private <T> T keep(T user, Runnable close) {
        synchronized (users) {
            if (!released) {
                users.put(user, close);
                return user;
            }
        }
        throw silent();
    }

    /** A queue or port is closed and touches the memory no more. */
    void left(Object user) {
        boolean isLast;
        synchronized (users) {
            isLast = users.remove(user) != null && users.isEmpty() && released;
        }
        if (isLast) {
            mapping.close();
        }
    }

    /** What the agent has written into a place. */
    String text(long place) {
        int length = Math.clamp(memory.get(JAVA_INT, place + SessionLayout.TEXT_LENGTH), 0, SessionLayout.MAX_TEXT);
        byte[] bytes = memory.asSlice(place + SessionLayout.TEXT, length).toArray(JAVA_BYTE);
        return new String(bytes, StandardCharsets.UTF_8);
    }

    /** Ends the queue at this place, which is free again when the agent says so. */
    void close(int place) {
        long id = numbers.incrementAndGet();
        long start = System.nanoTime();
        while (!dead && System.nanoTime() - start < ANSWER_TIME.toNanos()) {
            if (ring.note(SessionLayout.CLOSE, place, id)) {
                places.closing(place, id);
                published();
                return;
            }
            LockSupport.parkNanos(PAUSE_NANOS);
        }
    }

    /** Goes through the agent's hands and back; false if it takes longer. */
    boolean ping(long atMostNanos) {
        if (dead) {
            return false;
        }
        int place = places.take();
        try {
            long id = numbers.incrementAndGet();
            if (dead || !ring.note(SessionLayout.NOTHING, place, id)) {
                return false;
            }
            published();
            return awaitAnswer(place, id, atMostNanos);
        } finally {
            places.giveBack(place);
        }
    }

    /** Something is in the ring: makes sure that the agent looks. */
    void published() {
        // Partner: AgentPump.sleep, which says that it does not watch, fences, and then looks once more.
        EntryRing.fence();
        if ((int) SessionLayout.INT.getAcquire(memory, SessionLayout.WATCHED) == 0) {
            socket.ring();
        }
    }

    private boolean awaitAnswer(int place, long id, long atMostNanos) {
        // Who is not alone does not spin: many that start at a time would keep the processors from the agent that they
        // wait for.
        boolean isAlone = WAITING.getAndIncrement() == 0;
        try {
            return awaitAnswer(
                    layout.place(place), id, isAlone ? SPINS : 0, isAlone ? YIELDS : FEW_YIELDS, atMostNanos);
        } finally {
            WAITING.getAndDecrement();
        }
    }

    private boolean awaitAnswer(long at, long id, int spins, int yields, long atMostNanos) {
        long start = System.nanoTime();
        int polls = 0;
        // Partner: SessionPlace.answer.
        while ((long) SessionLayout.LONG.getAcquire(memory, at) != id) {
            if (++polls < spins) {
                Thread.onSpinWait();
            } else if (polls < spins + yields) {
                Thread.yield();
            } else {
                long waited = System.nanoTime() - start;
                if (dead || waited > atMostNanos) {
                    return false;
                }
                // Where many wait for long, looking often would keep the processors from the agent.
                LockSupport.parkNanos(Math.clamp(waited / 4, PAUSE_NANOS, LONGEST_PAUSE_NANOS));
            }
        }
        return true;
    }

    /** Ends the session. The memory stays until the queues, which are in their error state now, are closed too. */
    @Override
    public void close() {
        die();
        boolean isUnused;
        synchronized (users) {
            isUnused = users.isEmpty() && !released;
            released = true;
        }
        if (isUnused) {
            mapping.close();
        }
    }

    /** Ends the session and its queues. */
    void closeWithQueues() {
        close();
        List<Runnable> left;
        synchronized (users) {
            left = List.copyOf(users.values());
        }
        left.forEach(Runnable::run);
    }
}
