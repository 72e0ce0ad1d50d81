package dev.rackcall.rpc.shm.client;

import dev.rackcall.rpc.DeadlineClock;
import dev.rackcall.rpc.Status;
import dev.rackcall.rpc.runtime.RuntimeDirectory;
import dev.rackcall.rpc.shm.Transports;
import dev.rackcall.rpc.shm.protocol.ControlLayout;
import dev.rackcall.rpc.shm.protocol.Handshake;
import dev.rackcall.rpc.shm.protocol.SlotLayout;
import dev.rackcall.rpc.spi.ClientSpec;
import dev.rackcall.rpc.spi.ServedInterface;
import dev.rackcall.rpc.spi.ServiceDefinition;
import dev.rackcall.shm.os.Errno;
import dev.rackcall.shm.os.Futex;
import dev.rackcall.shm.os.OsException;
import dev.rackcall.shm.os.file.Mapping;
import dev.rackcall.shm.os.file.SharedFile;
import dev.rackcall.shm.os.socket.Message;
import dev.rackcall.shm.os.socket.UnixSocket;
import dev.rackcall.shm.waiting.WaitStrategy;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * A server for one channel that keeps to the protocol only as far as a test lets it: what it says to a client's hello,
 * and how it answers calls, is up to the test. Serves one client after the other, on a thread of its own.
 */
final class LyingServer implements AutoCloseable {
    static final int SLOTS = 64;
    static final long QUOTA = 1 << 20;
    private static final long SHARED_BYTES = 1 << 20;
    private static final int REQUEST_ID = 11;
    static final int REPLY_ID = 12;
    static final int SHARED_ID = 13;

    /** What a server says and gives when a client has said hello. */
    static final class Offer {
        Handshake.ServerHello serverHello;
        SharedFile file;
        SharedFile shared;
        /** Instead of {@link #serverHello}, if not null; empty: hangs up. */
        byte[] message;
        /** Descriptors sent; null: those of the two files. */
        int[] fds;
        /** Says nothing at all. */
        boolean silent;

        private final List<AutoCloseable> more = new ArrayList<>();

        <T extends AutoCloseable> T keep(T resource) {
            more.add(resource);
            return resource;
        }

        void close() throws Exception {
            file.close();
            shared.close();
            for (AutoCloseable resource : more) {
                resource.close();
            }
        }
    }

    interface Lie {
        void tell(Offer offer, UnixSocket socket) throws Exception;
    }

    /** Answers, or does not answer, request number {@code ticket} in its slot. */
    interface Answer {
        void to(long ticket, long slot, MemorySegment memory);
    }

    private final ServiceDefinition<?> definition;
    private final UnixSocket door;
    private final Thread thread;
    private volatile Lie lie = (offer, socket) -> {};
    private volatile Answer answer = (ticket, slot, memory) -> {};
    private volatile Throwable failure;
    private volatile boolean stopped;
    private volatile boolean hangingUp;

    /** A client of such a server, or of an honest one. */
    static ShmClientConnection connect(String channel, Path directory, Duration timeout) {
        return (ShmClientConnection) Transports.connect(new ClientSpec(
                channel,
                ClientSpec.Place.here(directory),
                WaitStrategy.adaptive(),
                new ClientSpec.Capacity(SLOTS, QUOTA),
                new ClientSpec.Timeouts(Duration.ofSeconds(20), timeout, DeadlineClock.SYSTEM),
                ClientSpec.Sealing.DEFAULT));
    }

    LyingServer(Path directory, ServiceDefinition<?> definition) throws IOException {
        this.definition = definition;
        Files.createDirectories(directory);
        this.door = UnixSocket.listen(
                RuntimeDirectory.at(directory)
                        .instance(definition.channel(), RuntimeDirectory.newId())
                        .socket(),
                16);
        this.thread = Thread.ofPlatform().name("liar").start(this::run);
    }

    void lie(Lie newLie) {
        lie = newLie;
    }

    void answer(Answer newAnswer) {
        answer = newAnswer;
    }

    private void run() {
        while (!stopped) {
            try {
                Optional<UnixSocket> guest = door.accept();
                if (guest.isEmpty()) {
                    LockSupport.parkNanos(TimeUnit.MICROSECONDS.toNanos(100));
                } else {
                    try (UnixSocket socket = guest.get()) {
                        receive(socket);
                    }
                }
            } catch (Exception | Error e) {
                if (!stopped) {
                    failure = e;
                }
            }
        }
    }

    private void receive(UnixSocket socket) throws Exception {
        Optional<Message> hello = socket.receive(Duration.ofSeconds(10));
        if (hello.isEmpty() || hello.get().isEnd()) {
            return;
        }
        Offer offer = honestOffer();
        try (Mapping mapping = offer.file.map();
                Mapping sharedMapping = offer.shared.map()) {
            ControlLayout.initialise(mapping.memory(), offer.serverHello.slots(), offer.serverHello.instance());
            offer.keep(sharedMapping);
            lie.tell(offer, socket);
            byte[] message = offer.message != null ? offer.message : offer.serverHello.encode();
            if (!offer.silent && message.length > 0) {
                send(socket, message, offer.fds != null ? offer.fds : new int[] {offer.file.fd(), offer.shared.fd()});
            }
            if (offer.silent || message.length > 0) {
                serve(socket, mapping.memory());
            }
        } finally {
            offer.close();
        }
    }

    /** The guest may have stopped waiting for its offer. */
    private static void send(UnixSocket socket, byte[] message, int[] fds) {
        try {
            socket.send(message, fds);
        } catch (OsException e) {
            if (e.errno() != Errno.EPIPE) {
                throw e;
            }
        }
    }

    private Offer honestOffer() {
        Offer offer = new Offer();
        long requestAt = ControlLayout.controlBytes(SLOTS);
        offer.file = SharedFile.memfd("rackcall-liar", requestAt + 2 * QUOTA);
        offer.file.reserve(0, requestAt);
        offer.shared = SharedFile.memfd("rackcall-liar-shared", SHARED_BYTES);
        offer.serverHello = new Handshake.ServerHello(
                Status.OK,
                42,
                SLOTS,
                2,
                new Handshake.Arenas(
                        new Handshake.ArenaPlace(REQUEST_ID, requestAt, QUOTA),
                        new Handshake.ArenaPlace(REPLY_ID, requestAt + QUOTA, QUOTA),
                        new Handshake.ArenaPlace(SHARED_ID, 0, SHARED_BYTES)),
                ServedInterface.of(definition));
        return offer;
    }

    /** Ends the present connection after the answer that is being given. */
    void hangUp() {
        hangingUp = true;
    }

    /** Until one side hangs up. */
    private void serve(UnixSocket socket, MemorySegment memory) {
        ControlLayout.watched(memory, true);
        hangingUp = false;
        long head = 0;
        while (!stopped && !hangingUp && socket.drain() >= 0) {
            for (int i = 0; i < 64 && !hangingUp; i++) {
                long slot = ControlLayout.slot((int) head & (ControlLayout.lap(memory, head, SLOTS) - 1));
                long word = SlotLayout.requestWord(memory, slot);
                if (!SlotLayout.isOf(word, head)) {
                    Thread.onSpinWait();
                    continue;
                }
                if ((SlotLayout.flags(word) & SlotLayout.SKIP) == 0) {
                    if ((SlotLayout.flags(word) & SlotLayout.ONE_WAY) != 0) {
                        SlotLayout.publishResponse(memory, slot, SlotLayout.word(head, 0, 0, 0));
                    } else {
                        answer.to(head, slot, memory);
                        if (ControlLayout.state(memory) == ControlLayout.STATE_ENDED) {
                            // As a server that has not begun this request.
                            return;
                        }
                        VarHandle.fullFence();
                        if (ControlLayout.asleep(memory, 0) != 0) {
                            Futex.wake(memory, slot + SlotLayout.RESPONSE_WORD, 1);
                        }
                    }
                }
                head++;
                ControlLayout.consumed(memory, head);
            }
        }
    }

    /** What went wrong in this server itself, which is a mistake of the test. */
    Optional<Throwable> failure() {
        return Optional.ofNullable(failure);
    }

    @Override
    public void close() throws InterruptedException {
        stopped = true;
        thread.join(TimeUnit.SECONDS.toMillis(30));
        door.close();
    }
}
