package dev.rackcall.cp.meta;

import dev.rackcall.directory.DirectoryException;
import dev.rackcall.directory.DirectoryException.Reason;
import dev.rackcall.directory.DirectoryOptions;
import dev.rackcall.directory.DirectoryStore;
import dev.rackcall.directory.DirectoryStore.Follower;
import dev.rackcall.directory.DirectoryStore.Following;
import dev.rackcall.directory.StoreProvider;
import dev.rackcall.directory.file.FileStoreProvider;
import java.net.URI;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/** {@code unsteady:///a/path}: a directory of files whose lease is lost, and comes back, when a test says so. One member for each path. */
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
        return store;
    }

    /** The one that was opened last there. */
    public static UnsteadyStore at(URI address) {
        return OPEN.get(address);
    }

    /** A member's session. */
    public static final class UnsteadyStore implements DirectoryStore {
        private final DirectoryStore files;
        private final Set<String> mine = ConcurrentHashMap.newKeySet();
        private volatile Optional<LeaseListener> listener = Optional.empty();
        private volatile boolean isHeld = true;

        private UnsteadyStore(DirectoryStore files) {
            this.files = files;
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

        @Override
        public boolean create(String path, byte[] value) {
            if (!isHeld) {
                throw new DirectoryException(Reason.LEASE_LOST, "the test says so");
            }
            mine.add(path);
            return files.create(path, value);
        }

        @Override
        public boolean replace(String path, byte[] value) {
            return files.replace(path, value);
        }

        @Override
        public void remove(String path) {
            files.remove(path);
        }

        @Override
        public void put(String path, byte[] value) {
            files.put(path, value);
        }

        @Override
        public Optional<byte[]> get(String path) {
            return files.get(path);
        }

        @Override
        public List<String> children(String folder) {
            return files.children(folder);
        }

        @Override
        public Following follow(String folder, Follower follower) {
            return files.follow(folder, follower);
        }

        @Override
        public boolean isLeaseHeld() {
            return isHeld && files.isLeaseHeld();
        }

        @Override
        public void onLease(LeaseListener told) {
            listener = Optional.of(told);
        }

        @Override
        public void close() {
            files.close();
        }
    }
}
