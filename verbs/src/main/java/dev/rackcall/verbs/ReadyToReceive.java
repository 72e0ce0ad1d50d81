package dev.rackcall.verbs;

import java.util.Objects;
import java.util.Optional;

/**
 * The attributes that a queue pair needs for the READY_TO_RECEIVE state. Start with {@link #from} (RC) or
 * {@link #unconnected} (UD, DC).
 *
 * @param path the address of the peer (RC)
 * @param pathMtu maximum packet payload
 * @param peer the peer's queue pair number (RC)
 * @param firstPacket number of the first expected packet, 24 bits; the peer's {@link ReadyToSend#firstPacket}
 * @param maxReadAtomic concurrent READs and atomics that this queue pair serves for the peer
 * @param rnrTimer code of the peer's pause if no receive request was posted (14 is 1.28 ms; see ibv_modify_qp(3))
 */
public record ReadyToReceive(
        Optional<AddressVector> path, Mtu pathMtu, int peer, int firstPacket, int maxReadAtomic, int rnrTimer) {
    /** Checks the ranges. */
    public ReadyToReceive {
        Objects.requireNonNull(path, "path");
        Objects.requireNonNull(pathMtu, "pathMtu");
        if (peer >>> 24 != 0 || firstPacket >>> 24 != 0 || maxReadAtomic < 0 || rnrTimer < 0 || rnrTimer > 31) {
            throw new IllegalArgumentException("cannot receive from queue pair " + peer + ", first packet "
                    + firstPacket + " (24 bits each), " + maxReadAtomic + " reads, RNR timer " + rnrTimer
                    + " (0-31)");
        }
    }

    /**
     * From this queue pair over this path: 1024 bytes per packet, first packet 0, 16 concurrent reads, RNR pause 0.64
     * ms.
     */
    public static ReadyToReceive from(AddressVector path, int peer) {
        return new ReadyToReceive(Optional.of(path), Mtu.MTU_1024, peer, 0, 16, 12);
    }

    /** From any peer (UD, DC). */
    public static ReadyToReceive unconnected() {
        return new ReadyToReceive(Optional.empty(), Mtu.MTU_1024, 0, 0, 16, 12);
    }

    /**
     * For a provider: the path of RC queue pair {@code number}.
     *
     * @throws VerbsException if there is none
     */
    public AddressVector requirePath(int number) {
        return path.orElseThrow(() -> new VerbsException(
                "RC queue pair " + number + " has no peer", VerbsErrno.EINVAL, "use ReadyToReceive.from(path, peer)"));
    }

    /** The same with another maximum packet payload. */
    public ReadyToReceive withMtu(Mtu mtu) {
        return new ReadyToReceive(path, mtu, peer, firstPacket, maxReadAtomic, rnrTimer);
    }

    /** The same with another first packet number. */
    public ReadyToReceive withFirstPacket(int number) {
        return new ReadyToReceive(path, pathMtu, peer, number, maxReadAtomic, rnrTimer);
    }

    /** The same with this many concurrent READs and atomics. */
    public ReadyToReceive withMaxReadAtomic(int requests) {
        return new ReadyToReceive(path, pathMtu, peer, firstPacket, requests, rnrTimer);
    }

    /** The same with another code for the pause. */
    public ReadyToReceive withRnrTimer(int code) {
        return new ReadyToReceive(path, pathMtu, peer, firstPacket, maxReadAtomic, code);
    }
}
