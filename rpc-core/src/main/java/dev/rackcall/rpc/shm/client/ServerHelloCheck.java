package dev.rackcall.rpc.shm.client;

import dev.rackcall.rpc.shm.protocol.ControlLayout;
import dev.rackcall.rpc.shm.protocol.Handshake;
import dev.rackcall.rpc.spi.ClientSpec;
import dev.rackcall.shm.os.file.SharedFile;
import java.util.Locale;

/**
 * Compares a server's hello with the client's request and with the memory sent along. A client does not trust a server:
 * slots and lengths decide how much this process allocates and which addresses it touches.
 */
public final class ServerHelloCheck {
    /** The reach of a Ref's offset. */
    private static final long MAX_ARENA_BYTES = 1L << 40;

    private final Handshake.ServerHello serverHello;
    private final ClientSpec spec;
    private final int slots;

    private ServerHelloCheck(Handshake.ServerHello serverHello, ClientSpec spec, int slots) {
        this.serverHello = serverHello;
        this.spec = spec;
        this.slots = slots;
    }

    public static ServerHelloCheck of(Handshake.ServerHello serverHello, ClientSpec spec) {
        return of(serverHello, spec, spec.slots());
    }

    /** @param slots the number of slots requested */
    public static ServerHelloCheck of(Handshake.ServerHello serverHello, ClientSpec spec, int slots) {
        return new ServerHelloCheck(serverHello, spec, slots);
    }

    /** @throws Handshake.MalformedException if anything does not fit */
    public void require(SharedFile file, SharedFile shared) throws Handshake.MalformedException {
        require(
                file.isSealed() && shared.isSealed(),
                "its memory is not sealed, so it could shrink under this process");
        requirePlaces(file, shared);
    }

    /** As {@link #require}, for memory whose length the server does not choose. */
    public void requirePlaces(SharedFile file, SharedFile shared) throws Handshake.MalformedException {
        require(serverHello.slots() == slots, "it gives %d slots, but %d were asked for", serverHello.slots(), slots);
        require(
                serverHello.participant() > Handshake.SERVER_PARTICIPANT
                        && serverHello.participant() <= Handshake.MAX_PARTICIPANTS,
                "participant number %d is not from %d to %d",
                serverHello.participant(),
                Handshake.SERVER_PARTICIPANT + 1,
                Handshake.MAX_PARTICIPANTS);
        require(
                serverHello.request().id() != serverHello.reply().id()
                        && serverHello.request().id() != serverHello.shared().id()
                        && serverHello.reply().id() != serverHello.shared().id(),
                "two of its arenas have one number: %d, %d, %d",
                serverHello.request().id(),
                serverHello.reply().id(),
                serverHello.shared().id());
        requireOwnArenas(file.bytes());
        requireShared(shared.bytes());
    }

    private void requireOwnArenas(long fileBytes) throws Handshake.MalformedException {
        long quota = Math.max(Handshake.MIN_QUOTA, spec.arenaQuota());
        requirePlace("request arena", serverHello.request(), fileBytes, quota);
        requirePlace("reply arena", serverHello.reply(), fileBytes, quota);
        long requestEnd = serverHello.request().offset() + serverHello.request().bytes();
        require(
                ControlLayout.controlBytes(serverHello.slots())
                                <= serverHello.request().offset()
                        && requestEnd <= serverHello.reply().offset(),
                "its slots and arenas overlap: %s, %s",
                serverHello.request(),
                serverHello.reply());
    }

    private void requireShared(long fileBytes) throws Handshake.MalformedException {
        requirePlace("shared arena", serverHello.shared(), fileBytes, MAX_ARENA_BYTES);
        require(
                serverHello.shared().bytes() == fileBytes,
                "its shared arena has %d bytes, but the memory sent has %d",
                serverHello.shared().bytes(),
                fileBytes);
    }

    private static void requirePlace(String what, Handshake.ArenaPlace place, long fileBytes, long mostBytes)
            throws Handshake.MalformedException {
        require(
                place.fits(fileBytes) && place.bytes() <= mostBytes,
                "its %s must have at most %d bytes and lie in memory of %d bytes: %s",
                what,
                mostBytes,
                fileBytes,
                place);
    }

    private static void require(boolean right, String complaint, Object... values) throws Handshake.MalformedException {
        if (!right) {
            throw new Handshake.MalformedException(String.format(Locale.ROOT, complaint, values));
        }
    }
}
