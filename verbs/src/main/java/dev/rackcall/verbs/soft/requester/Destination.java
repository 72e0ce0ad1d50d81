package dev.rackcall.verbs.soft.requester;

import dev.rackcall.verbs.Gid;

/** The target device of requests, and the link to it. */
final class Destination {
    private final RequesterLinks links;
    private final Gid gid;
    private volatile RequesterLink link;

    Destination(RequesterLinks links, Gid gid) {
        this.links = links;
        this.gid = gid;
        link = links.linkTo(gid);
    }

    /** The link to use now: a new one if the last has ended. */
    RequesterLink link() {
        RequesterLink current = link;
        if (current.isEnded()) {
            current = links.linkTo(gid);
            link = current;
        }
        return current;
    }

    /** Whether this is the link used last. */
    boolean isOver(RequesterLink other) {
        return link == other;
    }
}
