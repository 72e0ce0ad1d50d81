package dev.rackcall.rpc.shm;

import dev.rackcall.rpc.Peer;
import dev.rackcall.rpc.Status;
import dev.rackcall.rpc.spi.ServerSpec;
import dev.rackcall.shm.Arena;
import dev.rackcall.shm.ArenaSpec;
import dev.rackcall.shm.TableHome;
import dev.rackcall.shm.os.Mapping;
import dev.rackcall.shm.os.SharedFile;
import dev.rackcall.shm.os.UnixSocket;
import java.lang.foreign.MemorySegment;
import java.security.SecureRandom;

/** Makes the memory of new connections to one channel: one sealed memfd each, cut into control region, request arena and reply arena. */
final class ConnectionFactory implements AutoCloseable {
    private static final int MIN_SLOTS = 2;
    private static final int MAX_SLOTS = 4096;
    /** What a client gets at least, if the server gives that much at all. */
    static final long MIN_QUOTA = 64 << 10;

    private static final long FIRST_REPLY_BYTES = 16 << 10;
    private static final int ALLOCATOR = 1;
    private static final SecureRandom INSTANCES = new SecureRandom();

    private final ServerSpec spec;
    private final ServiceBinding binding;
    private final SharedPool shared;
    private final Handlers handlers;
    private final ArenaIds ids = ArenaIds.shared();
    private final int sharedId;
    private final Scratch scratch;
    private final int scratchId;

    ConnectionFactory(ServerSpec spec, ServerSpec.Service<?> service, Handlers handlers) {
        this.spec = spec;
        this.handlers = handlers;
        this.sharedId = ids.take();
        this.scratchId = ids.take();
        this.scratch = new Scratch(service.definition().channel(), scratchId, spec.sharedQuota());
        SharedPool pool = null;
        try {
            pool = new SharedPool(service.definition().channel(), sharedId, spec.sharedQuota());
            this.binding = new ServiceBinding(service, spec, pool, scratch);
            this.shared = pool;
        } catch (RuntimeException | Error e) {
            if (pool != null) {
                pool.close();
            }
            ids.give(sharedId);
            ids.give(scratchId);
            throw e;
        }
    }

    String channel() {
        return binding.channel();
    }

    /** A connection of which the client does not know yet, with what it has to be told. */
    record Offer(
            ShmServerConnection connection,
            UnixSocket socket,
            Handshake.Welcome welcome,
            SharedFile file,
            SharedPool.Seat seat)
            implements AutoCloseable {
        /** Tells the client. */
        void send() {
            socket.send(welcome.encode(), file.fd(), seat.file().fd());
            connection.link.told();
        }

        /** Closes what only the client needs. */
        @Override
        public void close() {
            seat.close();
        }
    }

    /** Makes a connection; {@code count} hears when it hangs up and when its memory is gone. */
    Offer prepare(UnixSocket socket, Handshake.Hello hello, Peer peer, ConnectionCount count) {
        check(hello);
        SharedPool.Seat seat = shared.join();
        try {
            return prepare(socket, plan(hello, seat.number()), seat, peer, count);
        } catch (RuntimeException | Error e) {
            seat.close();
            shared.leave(seat.number());
            throw e;
        }
    }

    private Offer prepare(
            UnixSocket socket, Handshake.Welcome welcome, SharedPool.Seat seat, Peer peer, ConnectionCount count) {
        SharedFile file = null;
        Mapping mapping = null;
        try {
            file = SharedFile.memfd(
                    "rackcall" + channel(),
                    welcome.reply().offset() + welcome.reply().bytes());
            file.reserve(0, ControlLayout.slotBytes(welcome.slots()));
            mapping = file.map();
            MemorySegment memory = mapping.memory();
            ControlLayout.initialise(memory, welcome.slots(), welcome.instance());
            Arena reply = Arena.create(arena(welcome.reply(), memory, file, FIRST_REPLY_BYTES));
            Arena request = Arena.attach(arena(welcome.request(), memory, file, 0));
            ServerLink link = new ServerLink(
                    new SocketBell(socket), file, mapping, spec, shared, welcome, peer, request, reply, count, () -> {
                        ids.give(welcome.request().id());
                        ids.give(welcome.reply().id());
                    });
            return new Offer(new ShmServerConnection(link, binding, handlers), socket, welcome, file, seat);
        } catch (RuntimeException | Error e) {
            if (mapping != null) {
                mapping.close();
            }
            if (file != null) {
                file.close();
            }
            ids.give(welcome.request().id());
            ids.give(welcome.reply().id());
            throw e;
        }
    }

    private void check(Handshake.Hello hello) {
        if (hello.layout() != ControlLayout.VERSION) {
            throw Status.Code.FAILED_PRECONDITION
                    .with(
                            "channel %s: the client has memory layout version %d, the server version %d; use the same release of"
                                    + " Rackcall on both sides",
                            channel(), hello.layout(), ControlLayout.VERSION)
                    .asException();
        }
        if (!hello.channel().equals(channel())) {
            throw Status.Code.NOT_FOUND
                    .with("this socket serves channel %s, not %s", channel(), hello.channel())
                    .asException();
        }
        boolean powerOfTwo = Integer.bitCount(hello.slots()) == 1;
        if (!powerOfTwo || hello.slots() < MIN_SLOTS || hello.slots() > MAX_SLOTS) {
            throw Status.Code.INVALID_ARGUMENT
                    .with("%d slots asked; ask for a power of two from %d to %d", hello.slots(), MIN_SLOTS, MAX_SLOTS)
                    .asException();
        }
    }

    private Handshake.Welcome plan(Handshake.Hello hello, int participant) {
        long wished = Math.max(MIN_QUOTA, hello.arenaQuota());
        long quota = Math.min(wished, spec.arenaQuota()) & -ControlLayout.PAGE;
        long requestAt = ControlLayout.controlBytes(hello.slots());
        return new Handshake.Welcome(
                Status.OK,
                INSTANCES.nextLong(),
                hello.slots(),
                participant,
                new Handshake.ArenaPlace(ids.take(), requestAt, quota),
                new Handshake.ArenaPlace(ids.take(), requestAt + quota, quota),
                new Handshake.ArenaPlace(sharedId, 0, shared.bytes()),
                binding.service().definition().fingerprint(),
                binding.service().definition().type().getName(),
                binding.service().definition().description());
    }

    private static ArenaSpec arena(Handshake.ArenaPlace place, MemorySegment memory, SharedFile file, long firstBytes) {
        return new ArenaSpec(
                place.id(),
                memory.asSlice(place.offset(), place.bytes()),
                file,
                place.offset(),
                TableHome.PRIVATE,
                ALLOCATOR,
                firstBytes);
    }

    /** To be called now and then. */
    void tick() {
        shared.reclaim();
    }

    @Override
    public void close() {
        shared.close();
        scratch.close();
        ids.give(sharedId);
        ids.give(scratchId);
    }
}
