package dev.rackcall.directory.file;

import dev.rackcall.directory.DirectoryException;
import dev.rackcall.directory.DirectoryException.Reason;
import dev.rackcall.directory.DirectoryOptions;
import dev.rackcall.directory.spi.DirectoryStore;
import dev.rackcall.shm.os.Errno;
import dev.rackcall.shm.os.OsException;
import dev.rackcall.shm.os.OwnerLock;
import dev.rackcall.shm.os.Uid;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFileAttributes;
import java.nio.file.attribute.PosixFilePermissions;
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
 * Changes are made under one lock file, which the kernel releases if its holder dies: what it leaves is an entry that is whole or a
 * temporary file. Readers take no lock. A thread looks every {@value #LOOK_MILLIS} ms for what has changed and for who has died.
 */
final class FileStore implements DirectoryStore {
    private static final Logger LOG = LoggerFactory.getLogger(FileStore.class);
    private static final long LOOK_MILLIS = 50;
    private static final long LOCK_RETRY_MILLIS = 2;
    private static final String OURS = "rwx------";
    private static final int MAX_ATTEMPTS = 16;

    private final Path root;
    private final Path lockFile;
    private final DirectoryOptions options;
    private final Tree tree;
    private final Members members;
    private final ScheduledExecutorService thread;
    private final List<FolderFollowing> followings = new CopyOnWriteArrayList<>();
    private volatile LeaseListener leaseListener;
    private volatile OwnerLock membership;
    private volatile boolean leaseHeld = true;
    private volatile boolean closed;

    private FileStore(Path root, OwnerLock membership, DirectoryOptions options) {
        this.root = root;
        this.options = options;
        this.lockFile = root.resolve("changes.lock");
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
        try {
            for (int attempt = 1; ; attempt++) {
                try {
                    makeOrCheck(root);
                    return new FileStore(root, members(root).join(), options);
                } catch (NoSuchFileException e) {
                    // The last member that was in it has removed it just now.
                    if (attempt == MAX_ATTEMPTS) {
                        throw e;
                    }
                } catch (OsException e) {
                    if (attempt == MAX_ATTEMPTS || e.errno() != Errno.ENOENT) {
                        throw e;
                    }
                }
            }
        } catch (IOException | OsException e) {
            throw new DirectoryException(
                    Reason.UNAVAILABLE,
                    "the directory " + root + " cannot be opened: " + e + "; is it a folder that you can write?",
                    e);
        }
    }

    private static void makeOrCheck(Path root) throws IOException {
        if (!Files.isDirectory(root, LinkOption.NOFOLLOW_LINKS)) {
            Files.createDirectories(root, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString(OURS)));
        }
        PosixFileAttributes attributes =
                Files.readAttributes(root, PosixFileAttributes.class, LinkOption.NOFOLLOW_LINKS);
        String mode = PosixFilePermissions.toString(attributes.permissions());
        int uid = (Integer) Files.getAttribute(root, "unix:uid", LinkOption.NOFOLLOW_LINKS);
        if (mode.charAt(4) == 'w' || mode.charAt(7) == 'w' || uid != Uid.current()) {
            throw new DirectoryException(
                    Reason.INVALID,
                    "the directory " + root + " must belong to uid " + Uid.current() + " and nobody else may write it"
                            + " (found uid " + uid + ", " + mode + "); chmod 700 it, or name another one");
        }
    }

    // --- Changes
    // -----------------------------------------------------------------------------------------------------------------------------

    /** A change, which may use the files. */
    @FunctionalInterface
    private interface Change<T> {
        T make() throws IOException;
    }

    private <T> T change(String what, Change<T> change) {
        if (closed) {
            throw new DirectoryException(Reason.CLOSED, what + ": this directory has been closed; open another one");
        }
        return locked(what, change);
    }

    private <T> T locked(String what, Change<T> change) {
        try (OwnerLock held = lock(what)) {
            return change.make();
        } catch (IOException | OsException e) {
            throw failed(what, e);
        }
    }

    private OwnerLock lock(String what) {
        long end = System.nanoTime() + options.timeout().toNanos();
        while (true) {
            Optional<OwnerLock> lock = OwnerLock.tryAcquire(lockFile);
            if (lock.isPresent()) {
                return lock.get();
            }
            if (System.nanoTime() >= end) {
                throw new DirectoryException(
                        Reason.UNAVAILABLE,
                        what + ": another process has held " + lockFile + " for "
                                + options.timeout().toMillis() + " ms; the file names it: is it stopped?");
            }
            try {
                Thread.sleep(LOCK_RETRY_MILLIS);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new DirectoryException(
                        Reason.UNAVAILABLE, what + ": interrupted while it waited for its turn", e);
            }
        }
    }

    private DirectoryException failed(String what, Exception e) {
        return new DirectoryException(
                Reason.UNAVAILABLE, what + ": the files in " + root + " do not allow it: " + e, e);
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
            // Of a member that has died and whose entries nobody has removed yet, the entry is as good as gone.
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
            throw failed("reading " + path, e);
        }
    }

    @Override
    public List<String> children(String folder) {
        try {
            return tree.children(folder);
        } catch (IOException e) {
            throw failed("listing " + folder, e);
        }
    }

    @Override
    public Following follow(String folder, Follower follower) {
        FolderFollowing following = new FolderFollowing(folder, follower);
        followings.add(following);
        return following;
    }

    /** What is followed of one folder; used by the store's thread, except for its end. */
    private final class FolderFollowing implements Following {
        private final String folder;
        private final Follower follower;
        private Optional<Map<String, Entry>> told = Optional.empty();
        private volatile boolean current;

        FolderFollowing(String folder, Follower follower) {
            this.folder = folder;
            this.follower = follower;
        }

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

        @Override
        public boolean isCurrent() {
            return current && !closed;
        }

        @Override
        public void close() {
            followings.remove(this);
        }
    }

    /** Store's thread, now and then. */
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
        } catch (IOException | RuntimeException e) {
            followings.forEach(following -> following.current = false);
            LOG.warn("the directory {} cannot be read now: {}", root, e.toString());
        }
    }

    private void buryTheDead(String member) {
        locked("removing what a dead process has left", () -> {
            if (!members.isAlive(member)) {
                tree.removeAllOf(member);
                members.bury(member);
            }
            return true;
        });
    }

    // --- Lease
    // -------------------------------------------------------------------------------------------------------------------------------

    /** A member whose file somebody has removed is out; it joins anew under another name. */
    private void keepLease() throws IOException {
        if (leaseHeld && !members.isAlive(me())) {
            leaseHeld = false;
            LOG.warn("somebody has removed {}: this process's lease is lost", membership.path());
            tell(LeaseListener::lost);
        }
        if (!leaseHeld) {
            // What belongs to the old name is removed before anything can be made under the new one.
            String old = me();
            locked("ending the old lease", () -> {
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
        thread.shutdown();
        try {
            if (!thread.awaitTermination(options.timeout().toMillis(), TimeUnit.MILLISECONDS)) {
                LOG.warn("the directory {} is closed while its files are still being read", root);
            }
            locked("closing", () -> {
                tree.removeAllOf(me());
                tree.removeIfEmpty();
                return true;
            });
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } catch (DirectoryException e) {
            // Whoever looks next finds the member dead and does it.
            LOG.warn("what this process has in the directory is left to others to remove: {}", e.getMessage());
        } finally {
            membership.close();
            removeIfEmpty();
        }
    }

    /** Nothing is left behind by the last one. */
    private void removeIfEmpty() {
        for (Path folder : List.of(root.resolve("members"), root)) {
            try {
                Files.deleteIfExists(folder);
            } catch (IOException e) {
                LOG.debug("{} stays: {}", folder, e.toString());
            }
        }
    }
}
