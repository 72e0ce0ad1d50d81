package dev.rackcall.directory.file;

import dev.rackcall.directory.DirectoryException;
import dev.rackcall.directory.DirectoryException.Reason;
import dev.rackcall.directory.DirectoryOptions;
import dev.rackcall.directory.DirectoryStore;
import dev.rackcall.directory.DirectoryStore.Follower;
import dev.rackcall.directory.DirectoryStore.Following;
import dev.rackcall.shm.os.OsException;
import dev.rackcall.shm.os.file.OwnerLock;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A directory in files. One lock file guards changes; the kernel releases it if its holder dies. All entries are then
 * whole, and at most a temporary file is left. Readers take no lock. A thread checks every {@value #LOOK_MILLIS} ms for
 * changes and dead members.
 */
final class FileStore implements DirectoryStore {
    private static final Logger LOG = LoggerFactory.getLogger(FileStore.class);
    private static final long LOOK_MILLIS = 50;

    private final Path root;
    private final ChangeLock changes;
    private final DirectoryOptions options;
    private final Tree tree;
    private final Members members;
    private final ScheduledExecutorService thread;
    private final List<FolderFollowing> followings = new CopyOnWriteArrayList<>();
    private volatile LeaseListener leaseListener;
    private volatile OwnerLock membership;
    private volatile boolean leaseHeld = true;
    private volatile boolean closed;
    /** Whether the last check succeeded. Used by the store's thread. */
    private boolean readable = true;

    private FileStore(Path root, OwnerLock membership, DirectoryOptions options) {
        this.root = root;
        this.options = options;
        this.changes = new ChangeLock(root, options.timeout());
        this.tree = new Tree(entries(root));
        this.members = members(root);
        this.membership = membership;
        this.thread = Executors.newSingleThreadScheduledExecutor(
                Thread.ofPlatform().daemon().name("rackcall-directory-files").factory());
        var _ = thread.scheduleWithFixedDelay(this::look, 0, LOOK_MILLIS, TimeUnit.MILLISECONDS);
    }

    private static Path entries(Path root) {
        return root.resolve("entries");
    }

    private static Members members(Path root) {
        return new Members(root.resolve("members"));
    }

    static FileStore open(Path path, DirectoryOptions options) {
        Path root = path.toAbsolutePath().normalize();
        return new FileStore(root, members(root).joinIn(root), options);
    }

    // --- Changes
    // -----------------------------------------------------------------------------------------------------------------------------

    private <T> T change(String what, ChangeLock.Change<T> change) {
        if (closed) {
            throw new DirectoryException(Reason.CLOSED, what + ": this directory has been closed; open another one");
        }
        return changes.under(what, change);
    }

    private String me() {
        return Members.name(membership);
    }

    private static boolean isOf(Optional<Entry> entry, String member) {
        return entry.filter(found -> found.owner().equals(member)).isPresent();
    }

    @Override
    public boolean create(String path, byte[] value) {
        return change("making " + path, () -> {
            Optional<Entry> old = tree.read(path);
            if (!leaseHeld) {
                throw new DirectoryException(
                        Reason.LEASE_LOST,
                        "making " + path + ": the lease is lost and not renewed yet; try again in a moment");
            }
            // The entry of a dead member counts as removed.
            if (old.isPresent() && members.isAlive(old.get().owner())) {
                return false;
            }
            tree.write(path, Entry.of(me(), value));
            return true;
        });
    }

    @Override
    public boolean replace(String path, byte[] value) {
        return change("changing " + path, () -> {
            if (!leaseHeld || !isOf(tree.read(path), me())) {
                return false;
            }
            tree.write(path, Entry.of(me(), value));
            return true;
        });
    }

    @Override
    public void remove(String path) {
        change("removing " + path, () -> {
            if (isOf(tree.read(path), me())) {
                tree.remove(path);
            }
            return true;
        });
    }

    @Override
    public void put(String path, byte[] value) {
        change("writing " + path, () -> {
            tree.write(path, Entry.of("", value));
            return true;
        });
    }

    // --- Reading
    // -----------------------------------------------------------------------------------------------------------------------------

    @Override
    public Optional<byte[]> get(String path) {
        try {
            return tree.read(path)
                    .filter(entry -> members.isAlive(entry.owner()))
                    .map(Entry::value);
        } catch (IOException | OsException e) {
            throw changes.failed("reading " + path, e);
        }
    }

    @Override
    public List<String> children(String folder) {
        try {
            return tree.children(folder);
        } catch (IOException e) {
            throw changes.failed("listing " + folder, e);
        }
    }

    @Override
    public Following follow(String folder, Follower follower) {
        FolderFollowing following = new FolderFollowing(tree, folder, follower, followings::remove);
        followings.add(following);
        return following;
    }

    /** Runs on the store's thread, periodically. */
    private void look() {
        try {
            keepLease();
            if (followings.isEmpty()) {
                return;
            }
            Map<String, Boolean> alive = members.all();
            for (FolderFollowing following : followings) {
                following.look(alive);
            }
            for (Map.Entry<String, Boolean> member : alive.entrySet()) {
                if (!member.getValue()) {
                    buryTheDead(member.getKey());
                }
            }
            readable = true;
        } catch (IOException | RuntimeException e) {
            followings.forEach(FolderFollowing::lose);
            if (readable) {
                readable = false;
                LOG.warn("the directory {} cannot be read now, which is tried again: {}", root, e.toString());
            }
        }
    }

    private void buryTheDead(String member) {
        changes.under("removing what a dead process has left", () -> {
            if (!members.isAlive(member)) {
                tree.removeAllOf(member);
                members.bury(member);
            }
            return true;
        });
    }

    // --- Lease
    // -------------------------------------------------------------------------------------------------------------------------------

    /** A member whose file was removed is expelled; it joins again under another name. */
    private void keepLease() throws IOException {
        if (leaseHeld && !members.isAlive(me())) {
            leaseHeld = false;
            LOG.warn("{} was removed: this process's lease is lost", membership.path());
            tell(LeaseListener::lost);
        }
        if (!leaseHeld) {
            // The old name's entries are removed before any can be made under the new one.
            String old = me();
            changes.under("ending the old lease", () -> {
                tree.removeAllOf(old);
                return true;
            });
            membership.close();
            membership = members.join();
            leaseHeld = true;
            tell(LeaseListener::renewed);
        }
    }

    private void tell(Consumer<LeaseListener> what) {
        LeaseListener listener = leaseListener;
        if (listener != null) {
            what.accept(listener);
        }
    }

    @Override
    public boolean isLeaseHeld() {
        return leaseHeld && !closed;
    }

    @Override
    public void onLease(LeaseListener listener) {
        leaseListener = listener;
    }

    @Override
    public synchronized void close() {
        if (closed) {
            return;
        }
        closed = true;
        followings.forEach(FolderFollowing::lose);
        thread.shutdown();
        try {
            if (!thread.awaitTermination(options.timeout().toMillis(), TimeUnit.MILLISECONDS)) {
                LOG.warn("the directory {} is closed while its files are still being read", root);
            }
            changes.under("closing", () -> {
                tree.removeAllOf(me());
                tree.removeIfEmpty();
                return true;
            });
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } catch (DirectoryException e) {
            // Another member will find this one dead and remove its entries.
            LOG.warn("another member will remove this process's entries: {}", e.getMessage());
        } finally {
            membership.close();
            removeIfEmpty();
        }
    }

    /** The last member removes the folders. */
    private void removeIfEmpty() {
        for (Path folder : List.of(root.resolve("members"), root)) {
            try {
                Files.deleteIfExists(folder);
            } catch (IOException e) {
                LOG.debug("{} stays: {}", folder, e.toString());
            }
        }
    }

    /** One followed folder. Used by the store's thread, except when it is closed. */
    private static final class FolderFollowing implements Following {
        private final Tree tree;
        private final String folder;
        private final Follower follower;
        private final Consumer<FolderFollowing> whenClosed;
        private Optional<Map<String, Entry>> told = Optional.empty();
        private volatile boolean current;

        FolderFollowing(Tree tree, String folder, Follower follower, Consumer<FolderFollowing> whenClosed) {
            this.tree = tree;
            this.folder = folder;
            this.follower = follower;
            this.whenClosed = whenClosed;
        }

        /** Reads the folder, and reports its entries if they have changed. */
        void look(Map<String, Boolean> alive) throws IOException {
            Map<String, Entry> now = new HashMap<>();
            for (String name : tree.entries(folder)) {
                tree.read(folder + "/" + name)
                        .filter(entry -> entry.owner().isEmpty() || alive.getOrDefault(entry.owner(), false))
                        .ifPresent(entry -> now.put(name, entry));
            }
            current = true;
            if (!told.equals(Optional.of(now))) {
                told = Optional.of(now);
                SortedMap<String, byte[]> values = new TreeMap<>();
                now.forEach((name, entry) -> values.put(name, entry.value()));
                follower.changed(values);
            }
        }

        /** Called when the folder cannot be read now, or is no longer read. */
        void lose() {
            current = false;
        }

        @Override
        public boolean isCurrent() {
            return current;
        }

        @Override
        public void close() {
            whenClosed.accept(this);
        }
    }
}
