package dev.rackcall.verbs.soft;

import dev.rackcall.verbs.Access;
import dev.rackcall.verbs.Gid;
import dev.rackcall.verbs.InitAttributes;
import dev.rackcall.verbs.ReadyToReceive;
import dev.rackcall.verbs.VerbsErrno;
import dev.rackcall.verbs.VerbsException;

/** What a queue pair was told about its peer and what the peer may do; a connected one's connection. Written with its monitor. */
final class PeerPath {
    private final SoftContext context;
    private volatile InitAttributes init = InitAttributes.connected();
    private volatile ReadyToReceive remote = ReadyToReceive.unconnected();
    private volatile Gid gid = Gid.NONE;
    private volatile RequesterLink link;

    PeerPath(SoftContext context) {
        this.context = context;
    }

    void init(InitAttributes attributes) {
        SoftContext.checkPort(attributes.port());
        init = attributes;
    }

    void connect(ReadyToReceive attributes, int number) {
        gid = attributes
                .path()
                .orElseThrow(() -> new VerbsException(
                        "RC queue pair " + number + " has no peer",
                        VerbsErrno.EINVAL,
                        "use ReadyToReceive.from(path, peer)"))
                .gid();
        link = context.linkTo(gid);
    }

    void remote(ReadyToReceive attributes) {
        remote = attributes;
    }

    ReadyToReceive remote() {
        return remote;
    }

    int queueKey() {
        return init.queueKey();
    }

    boolean grants(Access right) {
        return init.rights().contains(right);
    }

    boolean isPeer(Gid device, int queuePair) {
        return gid.equals(device) && remote.peer() == queuePair;
    }

    /** The connection to the peer: a new one if the last has ended. */
    RequesterLink link() {
        RequesterLink current = link;
        if (current.isEnded()) {
            current = context.linkTo(gid);
            link = current;
        }
        return current;
    }

    /** Whether this connection is the one used last. */
    boolean isOver(RequesterLink other) {
        return link == other;
    }
}
