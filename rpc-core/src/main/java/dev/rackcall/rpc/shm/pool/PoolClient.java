package dev.rackcall.rpc.shm.pool;

import dev.rackcall.rpc.Peer;
import dev.rackcall.rpc.Route;
import dev.rackcall.rpc.RpcException;
import dev.rackcall.rpc.Status;
import dev.rackcall.rpc.shm.client.ClientEnd;
import dev.rackcall.rpc.shm.client.ClientMemory;
import dev.rackcall.rpc.shm.client.ServerHelloCheck;
import dev.rackcall.rpc.shm.client.ShmClientConnection;
import dev.rackcall.rpc.shm.notes.PoolNote;
import dev.rackcall.rpc.shm.protocol.ControlLayout;
import dev.rackcall.rpc.shm.protocol.Handshake;
import dev.rackcall.rpc.spi.ClientConnection;
import dev.rackcall.rpc.spi.ClientSpec;
import dev.rackcall.shm.OutOfArenaException;
import dev.rackcall.shm.os.OsException;
import dev.rackcall.shm.os.Uid;
import dev.rackcall.shm.os.file.SharedFile;
import dev.rackcall.shm.pool.Pool;
import dev.rackcall.shm.pool.PoolCommons;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * Connects to a server of a pool, on any host: leaves a hello at the channel's {@link PoolDoor} and maps the memory
 * that the answer names.
 */
public final class PoolClient {
    private static final long LOOK_NANOS = TimeUnit.MICROSECONDS.toNanos(200);

    private final ClientSpec spec;
    private final PoolCommons pool;
    private final Optional<String> server;
    private final long end;

    private PoolClient(ClientSpec spec, PoolCommons pool, Optional<String> server) {
        this.spec = spec;
        this.server = server;
        this.pool = pool;
        this.end = System.nanoTime() + spec.connectTimeout().toNanos();
    }

    /** The name of a server in its announcement. */
    static String name(long server) {
        return Long.toHexString(server);
    }

    /** @param server the {@linkplain #name name} of the server; empty for any one of the channel */
    public static ClientConnection connect(ClientSpec spec, Pool pool, Optional<String> server) {
        PoolCommons commons = PoolServer.commons(pool);
        try {
            return new PoolClient(spec, commons, server).connect();
        } catch (OutOfArenaException e) {
            throw Status.Code.RESOURCE_EXHAUSTED
                    .with("channel %s: connecting failed: %s", spec.channel(), e.getMessage())
                    .asException(e);
        } catch (IllegalStateException e) {
            if (pool.isOpen()) {
                throw e;
            }
            throw Status.Code.UNAVAILABLE
                    .with("channel %s: connecting failed: %s was closed", spec.channel(), pool)
                    .asException(e);
        } catch (OsException | IllegalArgumentException e) {
            throw Status.Code.UNAVAILABLE
                    .with("channel %s: connecting failed: %s", spec.channel(), e.getMessage())
                    .asException(e);
        }
    }

    /** A door with the owner and the beats that it had when it was looked at. */
    private record Served(PoolDoor door, long owner, long beats) {
        Served(PoolDoor door) {
            this(door, door.owner(), door.beats());
        }
    }

    private ClientConnection connect() {
        while (true) {
            Served chosen = choose();
            try {
                return connect(chosen.door, chosen.owner);
            } catch (RpcException e) {
                boolean isLeft = e.code() == Status.Code.UNAVAILABLE && chosen.door.owner() != chosen.owner;
                if (!isLeft || System.nanoTime() - end >= 0) {
                    throw e;
                }
                // Its server drains. Another one may have taken its place, or have a door of its own.
            }
        }
    }

    /** The door of a server that lives; of any server if none shows it. */
    private Served choose() {
        List<Served> doors = new ArrayList<>();
        PoolDoor.owned(pool, spec.channel()).forEach(door -> doors.add(new Served(door)));
        doors.removeIf(
                each -> each.owner == 0 || (server.isPresent() && !server.get().equals(name(each.owner))));
        if (doors.isEmpty()) {
            throw Status.Code.NOT_FOUND
                    .with(
                            "no server%s has channel %s in this pool; start it on a host that maps the pool",
                            server.map(each -> " " + each).orElse(""), spec.channel())
                    .asException();
        }
        if (doors.size() == 1) {
            return doors.getFirst();
        }
        // Otherwise all clients would go to one server.
        Collections.shuffle(doors, ThreadLocalRandom.current());
        while (System.nanoTime() - end < 0) {
            LockSupport.parkNanos(LOOK_NANOS);
            for (Served each : doors) {
                if (each.door.beats() != each.beats) {
                    return each;
                }
            }
        }
        return doors.getFirst();
    }

    private ClientConnection connect(PoolDoor door, long owner) {
        long place = pool.takeForHost(PoolHandshake.BYTES);
        boolean mayGive = true;
        try {
            byte[] hello = new Handshake.ClientHello(
                            ControlLayout.VERSION, spec.channel(), spec.slots(), spec.arenaQuota())
                    .encode();
            PoolHandshake knock = PoolHandshake.ask(
                    pool, place, hello, new Peer((int) ProcessHandle.current().pid(), Uid.current(), -1));
            int seat = sit(door, place);
            mayGive = false;
            boolean isAnswered = awaitAnswer(door, owner, seat, knock, place);
            mayGive = true;
            if (!isAnswered) {
                throw Status.Code.UNAVAILABLE
                        .with("channel %s: its server has just shut down", spec.channel())
                        .asException();
            }
            return open(knock);
        } finally {
            if (mayGive) {
                pool.give(place);
            }
        }
    }

    /** Takes a seat at the door, waiting for a free one if necessary. No server can find the hello before that. */
    private int sit(PoolDoor door, long place) {
        int seat = door.sit(place);
        while (seat < 0) {
            requireTime("has more clients at its door than it answers");
            LockSupport.parkNanos(LOOK_NANOS);
            seat = door.sit(place);
        }
        return seat;
    }

    /**
     * Waits for the answer, after which this side owns the handshake's memory again.
     *
     * @return false if the server has left the door, and the hello was withdrawn; a missing answer is thrown
     */
    private boolean awaitAnswer(PoolDoor door, long owner, int seat, PoolHandshake knock, long place) {
        try {
            while (!knock.isAnswered()) {
                requireTime("did not answer");
                if (door.owner() != owner && door.stand(seat, place)) {
                    return false;
                }
                LockSupport.parkNanos(LOOK_NANOS);
            }
            return true;
        } catch (RuntimeException | Error e) {
            if (door.stand(seat, place)) {
                pool.give(place);
            }
            // Otherwise a server has taken the hello and may still write its answer there, so the memory stays taken.
            throw e;
        }
    }

    private void requireTime(String complaint) {
        if (System.nanoTime() - end > 0) {
            throw Status.Code.UNAVAILABLE
                    .with(
                            "channel %s: its server %s within %s; it may be stopped, overloaded, or gone with its host",
                            spec.channel(), complaint, spec.connectTimeout())
                    .asException();
        }
    }

    private ClientConnection open(PoolHandshake knock) {
        try {
            Handshake.ServerHello serverHello = Handshake.ServerHello.decode(knock.serverHello());
            if (!serverHello.status().isOk()) {
                throw serverHello.status().asException();
            }
            return open(serverHello, knock.window(), knock.shared());
        } catch (Handshake.MalformedException e) {
            throw Status.Code.FAILED_PRECONDITION
                    .with("channel %s: the handshake failed: %s", spec.channel(), e.getMessage())
                    .asException(e);
        }
    }

    private ClientConnection open(
            Handshake.ServerHello serverHello, PoolHandshake.Window window, PoolHandshake.Window shared)
            throws Handshake.MalformedException {
        if (window.bytes() < BellLayout.BYTES) {
            throw new Handshake.MalformedException("a window of " + window.bytes() + " bytes has no room for a bell");
        }
        SharedFile file = null;
        SharedFile sharedFile = null;
        SharedFile note = null;
        PoolBell bell = null;
        ClientEnd end = null;
        try {
            file = pool.window(window.place(), window.bytes());
            sharedFile = pool.window(shared.place(), shared.bytes());
            bell = PoolBell.of(PoolMemory.bellPage(pool, window), false);
            ServerHelloCheck.of(serverHello, spec).requirePlaces(file, sharedFile);
            note = PoolNote.write(spec.channel(), false, file, window.place());
            ClientMemory memory = ClientMemory.open(file, sharedFile, serverHello, spec);
            Runnable leave = leave(bell, note);
            end = new ClientEnd(bell, memory, serverHello, spec.channel(), Route.Kind.POOL, true, leave);
            ShmClientConnection connection = new ShmClientConnection(end, spec);
            end.start(connection);
            return connection;
        } catch (Handshake.MalformedException | RuntimeException | Error e) {
            // Close first: an end that has left must not write into the bell's page.
            if (bell != null) {
                bell.close();
            }
            if (end != null) {
                end.discard();
            } else if (bell != null) {
                bell.leave();
            } else if (PoolMemory.isIn(pool, window)) {
                // Otherwise the server would keep the memory for this client until this host is reclaimed.
                PoolBell.decline(PoolMemory.bellPage(pool, window));
            }
            if (note != null) {
                note.close();
            }
            if (sharedFile != null) {
                sharedFile.close();
            }
            if (file != null) {
                file.close();
            }
            throw e;
        }
    }

    private static Runnable leave(PoolBell bell, SharedFile note) {
        return () -> {
            note.close();
            bell.leave();
        };
    }
}
