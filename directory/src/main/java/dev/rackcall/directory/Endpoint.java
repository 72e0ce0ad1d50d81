package dev.rackcall.directory;

import dev.rackcall.directory.DirectoryException.Reason;
import java.net.URI;
import java.util.Collection;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * One server of a channel, and how clients reach it. Immutable.
 *
 * @param id unique among the endpoints of its channel; need not stay the same when the server restarts
 * @param host where it runs; endpoints of one host use the same name
 * @param fingerprint of the service's interface. Endpoints of a channel may have different versions of it; a client
 *     compares its own with the server's when it connects
 * @param pools names of the memory that it maps; a client that maps one of them can call over shared memory
 * @param rdma addresses of an RDMA device in the server's order of preference: {@code rdma://}, with a queue pair
 *     for each connection, and {@code vq://}, over virtual queues
 * @param tcp addresses of the software device over TCP, in the same way: {@code soft://} and {@code vq://}
 * @param load the server's last reported load, larger if it is busier: servers report their calls in flight, averaged
 *     over the last seconds
 */
public record Endpoint(
        String id, String host, long fingerprint, Set<String> pools, List<URI> rdma, List<URI> tcp, int load) {
    private static final int MAX_TEXT = 255;
    private static final int MAX_ADDRESSES = 64;
    private static final Pattern ID = Pattern.compile("[A-Za-z0-9_-][A-Za-z0-9._-]{0,63}");

    /** Checks all values, which may come from other processes. */
    public Endpoint {
        require(
                Stream.of(id, host, pools, rdma, tcp).allMatch(Objects::nonNull)
                        && Stream.of(pools, rdma, tcp)
                                .flatMap(Collection::stream)
                                .allMatch(Objects::nonNull),
                "an endpoint has an id, a host, pools and addresses, which may be none but not null");
        require(
                ID.matcher(id).matches(),
                "the id of an endpoint has 1 to 64 letters, digits, . _ - and begins with no dot");
        require(!host.isEmpty() && host.length() <= MAX_TEXT, "the host of an endpoint has 1 to 255 characters");
        require(
                pools.size() <= MAX_ADDRESSES && rdma.size() + tcp.size() <= MAX_ADDRESSES,
                "an endpoint has 64 pools and addresses at most");
        require(
                pools.stream().allMatch(pool -> pool.length() <= MAX_TEXT)
                        && Stream.concat(rdma.stream(), tcp.stream())
                                .allMatch(address -> address.toString().length() <= MAX_TEXT),
                "pools and addresses of an endpoint have 255 characters at most");
        require(load >= 0, "the load of an endpoint is 0 or more");
        pools = Set.copyOf(pools);
        rdma = List.copyOf(rdma);
        tcp = List.copyOf(tcp);
    }

    private static void require(boolean condition, String otherwise) {
        if (!condition) {
            throw new DirectoryException(Reason.INVALID, otherwise);
        }
    }

    /** An endpoint without pools and addresses. */
    public static Endpoint of(String id, String host, long fingerprint) {
        return new Endpoint(id, host, fingerprint, Set.of(), List.of(), List.of(), 0);
    }

    /** The same with one more pool. */
    public Endpoint withPool(String pool) {
        Set<String> more = new TreeSet<>(pools);
        more.add(pool);
        return new Endpoint(id, host, fingerprint, more, rdma, tcp, load);
    }

    public Endpoint withRdma(List<URI> addresses) {
        return new Endpoint(id, host, fingerprint, pools, addresses, tcp, load);
    }

    public Endpoint withTcp(List<URI> addresses) {
        return new Endpoint(id, host, fingerprint, pools, rdma, addresses, load);
    }

    public Endpoint withFingerprint(long newFingerprint) {
        return new Endpoint(id, host, newFingerprint, pools, rdma, tcp, load);
    }

    public Endpoint withLoad(int calls) {
        return new Endpoint(id, host, fingerprint, pools, rdma, tcp, calls);
    }
}
