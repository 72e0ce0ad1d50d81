package dev.rackcall.rpc.shm.client;

import dev.rackcall.rpc.shm.protocol.ControlLayout;
import dev.rackcall.rpc.shm.protocol.Handshake;
import dev.rackcall.rpc.spi.ClientSpec;
import dev.rackcall.shm.os.file.SharedFile;
import java.util.Locale;

/**
 * Compares what a server says about a connection with what was asked for and with the memory that it sent. A client believes nothing else of
 * it: slots and lengths decide how much this process allocates and which addresses it touches.
 */
public final class ServerHelloCheck {
    /** What the offset of a Ref reaches. */
    private static final long MAX_ARENA_BYTES = 1L << 40;

    private final Handshake.Welcome welcome;
    private final ClientSpec spec;
    private final int slots;

    private ServerHelloCheck(Handshake.Welcome welcome, ClientSpec spec, int slots) {
        this.welcome = welcome;
        this.spec = spec;
        this.slots = slots;
    }

    public static ServerHelloCheck of(Handshake.Welcome welcome, ClientSpec spec) {
        return of(welcome, spec, spec.slots());
    }

    /** @param slots that were asked for */
    public static ServerHelloCheck of(Handshake.Welcome welcome, ClientSpec spec, int slots) {
        return new ServerHelloCheck(welcome, spec, slots);
    }

    /** @throws Handshake.MalformedException if anything does not fit */
    public void require(SharedFile file, SharedFile shared) throws Handshake.MalformedException {
        require(
                file.isSealed() && shared.isSealed(),
                "its memory is not sealed, so it could shrink under this process");
        requirePlaces(file, shared);
    }

    /** As {@link #require}, of memory whose length is not the server's affair. */
    public void requirePlaces(SharedFile file, SharedFile shared) throws Handshake.MalformedException {
        require(welcome.slots() == slots, "it gives %d slots, but %d were asked for", welcome.slots(), slots);
        require(
                welcome.participant() > Handshake.SERVER_PARTICIPANT
                        && welcome.participant() <= Handshake.MAX_PARTICIPANTS,
                "participant number %d is not from %d to %d",
                welcome.participant(),
                Handshake.SERVER_PARTICIPANT + 1,
                Handshake.MAX_PARTICIPANTS);
        require(
                welcome.request().id() != welcome.reply().id()
                        && welcome.request().id() != welcome.shared().id()
                        && welcome.reply().id() != welcome.shared().id(),
                "two of its arenas have one number: %d, %d, %d",
                welcome.request().id(),
                welcome.reply().id(),
                welcome.shared().id());
        requireOwnArenas(file.bytes());
        requireShared(shared.bytes());
    }

    private void requireOwnArenas(long fileBytes) throws Handshake.MalformedException {
        long quota = Math.max(Handshake.MIN_QUOTA, spec.arenaQuota());
        requirePlace("request arena", welcome.request(), fileBytes, quota);
        requirePlace("reply arena", welcome.reply(), fileBytes, quota);
        long requestEnd = welcome.request().offset() + welcome.request().bytes();
        require(
                ControlLayout.controlBytes(welcome.slots()) <= welcome.request().offset()
                        && requestEnd <= welcome.reply().offset(),
                "its slots and arenas overlap: %s, %s",
                welcome.request(),
                welcome.reply());
    }

    private void requireShared(long fileBytes) throws Handshake.MalformedException {
        requirePlace("shared arena", welcome.shared(), fileBytes, MAX_ARENA_BYTES);
        require(
                welcome.shared().bytes() == fileBytes,
                "its shared arena has %d bytes, but the memory sent has %d",
                welcome.shared().bytes(),
                fileBytes);
    }

    private static void requirePlace(String what, Handshake.ArenaPlace place, long fileBytes, long mostBytes)
            throws Handshake.MalformedException {
        require(
                place.fits(fileBytes) && place.bytes() <= mostBytes,
                "its %s is no place of at most %d bytes in memory of %d bytes: %s",
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
