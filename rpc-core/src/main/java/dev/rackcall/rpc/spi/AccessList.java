package dev.rackcall.rpc.spi;

import java.util.HashSet;
import java.util.Set;

/**
 * Which clients may open a channel. A client of this host's memory is known by its user, a client over a network by the
 * names in its certificate.
 *
 * @param users user ids
 * @param certificates names that clients prove by a certificate
 */
public record AccessList(Set<Integer> users, Set<String> certificates) {
    public static final AccessList EMPTY = new AccessList(Set.of(), Set.of());

    /** Copies the sets. */
    public AccessList {
        users = Set.copyOf(users);
        certificates = Set.copyOf(certificates);
    }

    /** This list and these users. */
    public AccessList withUsers(Set<Integer> more) {
        Set<Integer> all = new HashSet<>(users);
        all.addAll(more);
        return new AccessList(all, certificates);
    }

    /** This list and these names. */
    public AccessList withCertificates(Set<String> more) {
        Set<String> all = new HashSet<>(certificates);
        all.addAll(more);
        return new AccessList(users, all);
    }
}
