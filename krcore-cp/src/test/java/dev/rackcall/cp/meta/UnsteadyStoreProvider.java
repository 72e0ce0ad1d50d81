package dev.rackcall.cp.meta;

import dev.rackcall.cp.Wrapping;
import dev.rackcall.directory.DirectoryException;
import dev.rackcall.directory.DirectoryException.Reason;
import dev.rackcall.directory.DirectoryOptions;
import dev.rackcall.directory.DirectoryStore;
import dev.rackcall.directory.StoreProvider;
import dev.rackcall.directory.file.FileStoreProvider;
import java.net.URI;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * {@code unsteady:///a/path}: a directory of files whose lease a test can end and restore. One member for each path.
 */
public final class UnsteadyStoreProvider implements StoreProvider {
    private static final Map<URI, UnsteadyStore> OPEN = new ConcurrentHashMap<>();

    /** For {@code ServiceLoader}. */
    public UnsteadyStoreProvider() {}

    @Override
    public String scheme() {
        return "unsteady";
    }

    @Override
    public DirectoryStore open(URI address, DirectoryOptions options) {
        UnsteadyStore store =
                new UnsteadyStore(new FileStoreProvider().open(URI.create("file://" + address.getPath()), options));
        OPEN.put(address, store);
        return store.store();
    }

    /** The store that was opened last at this address. */
    public static UnsteadyStore at(URI address) {
        return OPEN.get(address);
    }

    /** A member's session. */
    public static final class UnsteadyStore {
        private final DirectoryStore files;
        private final Set<String> mine = ConcurrentHashMap.newKeySet();
        private volatile Optional<DirectoryStore.LeaseListener> listener = Optional.empty();
        private volatile boolean isHeld = true;

        private UnsteadyStore(DirectoryStore files) {
            this.files = files;
        }

        private DirectoryStore store() {
            return Wrapping.of(DirectoryStore.class, files, (method, arguments, inner) -> switch (method) {
                case "create" -> {
                    if (!isHeld) {
                        throw new DirectoryException(Reason.LEASE_LOST, "the test says so");
                    }
                    mine.add((String) arguments[0]);
                    yield inner.call();
                }
                case "isLeaseHeld" -> isHeld && (boolean) inner.call();
                case "onLease" -> {
                    listener = Optional.of((DirectoryStore.LeaseListener) arguments[0]);
                    yield null;
                }
                default -> inner.call();
            });
        }

        public void loseLease() {
            isHeld = false;
            mine.forEach(files::remove);
            listener.orElseThrow().lost();
        }

        public void renewLease() {
            isHeld = true;
            listener.orElseThrow().renewed();
        }
    }
}
