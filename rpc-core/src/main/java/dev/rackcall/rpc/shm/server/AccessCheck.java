package dev.rackcall.rpc.shm.server;

import dev.rackcall.rpc.Status;
import dev.rackcall.rpc.spi.AccessList;
import dev.rackcall.rpc.spi.LimitedLog;
import dev.rackcall.rpc.spi.ServerSpec;
import java.util.Collections;
import java.util.Optional;
import java.util.Set;
import jdk.jfr.Category;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.StackTrace;

/** Decides by a server's access lists which clients may open a channel, and reports each refusal. Thread-safe. */
public final class AccessCheck {
    private static final LimitedLog LOG = LimitedLog.of(AccessCheck.class);

    /** The flight recorder's event of a client that a channel's access list refuses. */
    @Name("dev.rackcall.AccessRefused")
    @Label("Access Refused")
    @Category("Rackcall")
    @Description("A client that may not open a channel")
    @StackTrace(false)
    static final class AccessRefused extends Event {
        @Label("Channel")
        String channel;

        @Label("Client")
        @Description("Its user, or the names in its certificate")
        String client;
    }

    private final ServerSpec.Trust trust;

    public AccessCheck(ServerSpec.Trust trust) {
        this.trust = trust;
    }

    /**
     * Why a client of this host's memory may not open the channel; empty if it may.
     *
     * @param owner the server's user; only this user may open a channel without a list
     */
    public Optional<Status> refusesUser(String channel, int uid, int pid, int owner) {
        Optional<AccessList> list = Optional.ofNullable(trust.access().get(channel));
        Set<Integer> users = list.map(AccessList::users).orElse(Set.of(owner));
        if (users.contains(uid)) {
            return Optional.empty();
        }
        report(channel, "uid " + uid + " (pid " + pid + ")");
        return Optional.of(Status.Code.PERMISSION_DENIED.with(
                "channel %s is served for %s, not for uid %d%s",
                channel,
                list.isEmpty() ? "uid " + owner + " only" : "the users on its access list",
                uid,
                list.isEmpty() ? "" : "; the server lists them by allowUsers"));
    }

    /**
     * Why a client over a network may not open the channel; empty if it may.
     *
     * @param names in its certificate
     */
    public Optional<Status> refusesNames(String channel, Set<String> names) {
        AccessList list = trust.access().get(channel);
        if (list == null || !Collections.disjoint(list.certificates(), names)) {
            return Optional.empty();
        }
        String who = names.isEmpty()
                ? "a client without a certificate (over vq:// none has one: serve the channel at soft:// with TLS)"
                : "a client with the certificate of " + names;
        report(channel, who);
        return Optional.of(Status.Code.PERMISSION_DENIED.with(
                "channel %s is not served for %s; the server lists certificates by allowCertificates", channel, who));
    }

    private static void report(String channel, String client) {
        AccessRefused event = new AccessRefused();
        event.channel = channel;
        event.client = client;
        event.commit();
        LOG.warn("{} may not use channel {}", client, channel);
    }
}
