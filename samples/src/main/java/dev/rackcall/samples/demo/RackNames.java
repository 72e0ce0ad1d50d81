package dev.rackcall.samples.demo;

import dev.rackcall.directory.ChannelName;
import dev.rackcall.directory.Directory;
import dev.rackcall.directory.DirectoryException;
import dev.rackcall.directory.Endpoint;
import dev.rackcall.samples.documents.DocumentStore;
import java.io.PrintWriter;
import java.net.URI;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;

/** The demo's own member of the directory in which its hosts find each other. Used by one thread. */
final class RackNames implements AutoCloseable {
    private static final ChannelName STORE = ChannelName.of(DocumentStore.CHANNEL);
    /** Longer than a lease, for a name whose withdrawal was lost with a server of the directory. */
    private static final long PATIENCE_NANOS = TimeUnit.SECONDS.toNanos(20);

    /** A member of an ensemble may lag for a moment. */
    private static final long QUIET_NANOS = TimeUnit.SECONDS.toNanos(1);

    private static final long LOOK_MILLIS = 100;

    private final URI address;
    private final Directory directory;

    private RackNames(URI address, Directory directory) {
        this.address = address;
        this.directory = directory;
    }

    /** @throws DemoException if the directory cannot be used, or names another server of the demo's channel */
    static RackNames open(URI address) {
        try {
            RackNames names = new RackNames(address, Directory.open(address));
            try {
                names.requireFree();
                return names;
            } catch (RuntimeException e) {
                names.close();
                throw e;
            }
        } catch (DirectoryException e) {
            throw new DemoException("the directory cannot be used: " + e.getMessage(), e);
        }
    }

    private void requireFree() {
        List<Endpoint> others = directory.endpoints(STORE);
        if (!others.isEmpty()) {
            throw new DemoException("the directory " + address + " names servers of " + STORE + " already: "
                    + describe(others) + ". Wait until that demo has ended (if it was killed, 10 s), or give this one"
                    + " a folder of its own, as in zk://host:2181/demo-2");
        }
    }

    private static String describe(List<Endpoint> endpoints) {
        return endpoints.stream().map(each -> each.id() + " on " + each.host()).collect(Collectors.joining(", "));
    }

    /**
     * The names that remain after all hosts have ended. Waits for the end of their leases if there are any.
     *
     * @param out gets a line if it waits
     */
    List<String> leftBehind(PrintWriter out) {
        long start = System.nanoTime();
        boolean said = false;
        try {
            List<Endpoint> left = directory.endpoints(STORE);
            for (long waited = 0; !left.isEmpty() && waited < PATIENCE_NANOS; waited = System.nanoTime() - start) {
                if (!said && waited > QUIET_NANOS) {
                    said = true;
                    out.printf(
                            "%nThe directory still names %s: waiting for the end of their leases, %d s at most.%n",
                            describe(left), TimeUnit.NANOSECONDS.toSeconds(PATIENCE_NANOS));
                    out.flush();
                }
                Thread.sleep(LOOK_MILLIS);
                left = directory.endpoints(STORE);
            }
            return left.isEmpty() ? List.of() : List.of("in the directory " + describe(left));
        } catch (DirectoryException e) {
            return List.of("perhaps names in the directory, until their leases end: " + e.getMessage());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new DemoException("interrupted", e);
        }
    }

    @Override
    public void close() {
        directory.close();
    }
}
