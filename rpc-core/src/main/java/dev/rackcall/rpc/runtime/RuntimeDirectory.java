package dev.rackcall.rpc.runtime;

import dev.rackcall.rpc.Status;
import dev.rackcall.shm.os.OsException;
import dev.rackcall.shm.os.Uid;
import dev.rackcall.shm.os.file.OwnerLock;
import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryNotEmptyException;
import java.nio.file.DirectoryStream;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFileAttributes;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.SecureRandom;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * The directory of the sockets and lock files of this host's servers, one pair per server and channel: {@code
 * shop+cart@k3f9zq} and {@code shop+cart@k3f9zq.lock}. A living server holds a lock on its lock file, which the kernel
 * releases when it dies. A pair with a free lock belongs to a dead server, and may be removed by any process that takes
 * the lock.
 */
public final class RuntimeDirectory {
    private static final String LOCK = ".lock";
    private static final String ID_CHARACTERS = "abcdefghijklmnopqrstuvwxyz234567";
    private static final int ID_LENGTH = 6;
    /** A socket or a lock file. Names of channels contain no at sign. */
    private static final Pattern FILE = Pattern.compile("([^@]+)@([a-z2-7]{" + ID_LENGTH + "})(\\.lock)?");

    private static final SecureRandom RANDOM = new SecureRandom();
    private static final Pattern NAME = Pattern.compile("(/(?!\\.{1,2}(/|$))[A-Za-z0-9._-]+)+");
    private static final Path KERNEL_HOST_NAME = Path.of("/proc/sys/kernel/hostname");
    private static final int MAX_ATTEMPTS = 16;
    /** As {@link OwnerLock} writes it. */
    private static final Pattern OWNER_TEXT = Pattern.compile("pid \\d+( [^\\n]*)?\\n");

    private static final int MAX_OWNER_TEXT = 200;
    private static final Set<PosixFilePermission> PRIVATE = PosixFilePermissions.fromString("rwx------");
    private static final Set<PosixFilePermission> OWNERS_FILE = PosixFilePermissions.fromString("rw-------");
    /** The path of a directory descriptor and a socket's name, with an instance id, must fit into a socket address. */
    private static final int MAX_NAME = 80;

    private final Path path;

    private RuntimeDirectory(Path path) {
        this.path = path;
    }

    /**
     * {@code RACKCALL_DIR}, else {@code $XDG_RUNTIME_DIR/rackcall}, else {@code rackcall-<uid>} in the temporary
     * directory.
     */
    public static Path defaultPath() {
        String chosen = System.getenv("RACKCALL_DIR");
        if (chosen != null && !chosen.isEmpty()) {
            return Path.of(chosen);
        }
        String runtime = System.getenv("XDG_RUNTIME_DIR");
        return runtime != null && !runtime.isEmpty()
                ? Path.of(runtime, "rackcall")
                : Path.of(System.getProperty("java.io.tmpdir"), "rackcall-" + Uid.current());
    }

    /** The name of this host in directories of several hosts: {@code RACKCALL_HOST}, else the kernel's. */
    public static String hostName() {
        String chosen = System.getenv("RACKCALL_HOST");
        if (chosen != null && !chosen.isEmpty()) {
            return chosen;
        }
        try {
            return Files.readString(KERNEL_HOST_NAME).strip();
        } catch (IOException e) {
            return "localhost";
        }
    }

    public static RuntimeDirectory at(Path path) {
        return new RuntimeDirectory(path.toAbsolutePath());
    }

    public Path path() {
        return path;
    }

    /**
     * Makes the directory, for its owner only, unless it exists.
     *
     * @throws dev.rackcall.rpc.RpcException PERMISSION_DENIED if other users could put sockets into it
     */
    public void create() {
        try {
            int attempts = 0;
            while (!makeOrCheck()) {
                // The last server in the directory has just removed it.
                if (++attempts == MAX_ATTEMPTS) {
                    throw new NoSuchFileException(path.toString());
                }
            }
        } catch (IOException e) {
            throw Status.Code.FAILED_PRECONDITION
                    .with("the runtime folder %s cannot be made: %s; set RACKCALL_DIR to a writable place", path, e)
                    .asException(e);
        }
    }

    /** Whether the directory exists now. */
    private boolean makeOrCheck() throws IOException {
        try {
            if (path.getParent() != null) {
                Files.createDirectories(path.getParent());
            }
            Files.createDirectory(path, PosixFilePermissions.asFileAttribute(PRIVATE));
            return true;
        } catch (FileAlreadyExistsException e) {
            return isThereAndPrivate();
        }
    }

    private boolean isThereAndPrivate() throws IOException {
        try {
            PosixFileAttributes attributes =
                    Files.readAttributes(path, PosixFileAttributes.class, LinkOption.NOFOLLOW_LINKS);
            String mode = PosixFilePermissions.toString(attributes.permissions());
            int uid = (Integer) Files.getAttribute(path, "unix:uid", LinkOption.NOFOLLOW_LINKS);
            if (!attributes.isDirectory() || mode.charAt(4) == 'w' || mode.charAt(7) == 'w' || uid != Uid.current()) {
                throw Status.Code.PERMISSION_DENIED
                        .with(
                                "the runtime folder %s must be a directory of uid %d that no other user can write"
                                        + " (found %s, uid %d); chmod 700 it, or set RACKCALL_DIR",
                                path, Uid.current(), mode, uid)
                        .asException();
            }
            return true;
        } catch (NoSuchFileException e) {
            return false;
        }
    }

    /** Owner and mode, for a message to a process that may not use it. */
    public String describeOwner() {
        try {
            return "it belongs to uid " + Files.getAttribute(path, "unix:uid", LinkOption.NOFOLLOW_LINKS)
                    + " with mode "
                    + PosixFilePermissions.toString(Files.getPosixFilePermissions(path, LinkOption.NOFOLLOW_LINKS));
        } catch (IOException e) {
            return "it cannot be examined (" + e + ")";
        }
    }

    /**
     * Checks a channel's name by the rule of directories and the processor: segments of letters, digits, {@code . _ -},
     * each after a slash, except {@code .} and {@code ..}; at most 80 characters.
     */
    public static void checkName(String channel) {
        if (channel.length() > MAX_NAME) {
            throw Status.Code.INVALID_ARGUMENT
                    .with(
                            "the channel name %s... has %d characters; use %d at most",
                            channel.substring(0, MAX_NAME), channel.length(), MAX_NAME)
                    .asException();
        }
        if (!NAME.matcher(channel).matches()) {
            throw Status.Code.INVALID_ARGUMENT
                    .with(
                            "'%s' is not a channel name; write segments of letters, digits, . _ -, each after a slash, as"
                                    + " in /shop/cart",
                            channel)
                    .asException();
        }
    }

    /** An id for a server that is about to start. */
    public static String newId() {
        StringBuilder id = new StringBuilder();
        for (int i = 0; i < ID_LENGTH; i++) {
            id.append(ID_CHARACTERS.charAt(RANDOM.nextInt(ID_CHARACTERS.length())));
        }
        return id.toString();
    }

    /** The place of a server with that id, which need not exist. */
    public ServerInstance instance(String channel, String id) {
        String name = channel.substring(1).replace('/', '+') + "@" + id;
        return new ServerInstance(channel, id, path.resolve(name), path.resolve(name + LOCK));
    }

    /**
     * The servers of a channel that have files here, living and dead, in no particular order.
     *
     * @throws dev.rackcall.rpc.RpcException PERMISSION_DENIED if this user may not read the directory
     */
    public List<ServerInstance> instances(String channel) {
        return all().stream().filter(each -> each.channel().equals(channel)).toList();
    }

    /** All servers that have files here, living and dead. */
    public List<ServerInstance> all() {
        Set<ServerInstance> found = new LinkedHashSet<>();
        try (DirectoryStream<Path> files = Files.newDirectoryStream(path, "*@*")) {
            for (Path file : files) {
                Matcher name = FILE.matcher(file.getFileName().toString());
                if (name.matches() && (name.group(3) == null || isOwnersFile(file))) {
                    found.add(instance("/" + name.group(1).replace('+', '/'), name.group(2)));
                }
            }
        } catch (NoSuchFileException | NotDirectoryException | DirectoryIteratorException e) {
            // It did not exist, or was removed while it was read.
            return List.of();
        } catch (AccessDeniedException e) {
            throw Status.Code.PERMISSION_DENIED
                    .with(
                            "%s is closed to uid %d: %s; run as the server's user, or start a server of your own and set"
                                    + " RACKCALL_DIR to its directory",
                            path, Uid.current(), describeOwner())
                    .asException(e);
        } catch (IOException e) {
            throw Status.Code.FAILED_PRECONDITION
                    .with("the runtime folder %s cannot be read: %s", path, e)
                    .asException(e);
        }
        return List.copyOf(found);
    }

    /** The channels that living servers have here. */
    public List<String> channels() {
        return names(all().stream().filter(ServerInstance::isAlive));
    }

    private static List<String> names(Stream<ServerInstance> instances) {
        return instances.map(ServerInstance::channel).distinct().sorted().toList();
    }

    /**
     * Whether a server of this user made that file. Other programs use such names, too, and must not lose their files
     * in a wrongly named directory. A server killed before it wrote its pid left an empty file, which counts if the
     * directory has a server's permissions.
     */
    private boolean isOwnersFile(Path file) {
        try {
            PosixFileAttributes attributes =
                    Files.readAttributes(file, PosixFileAttributes.class, LinkOption.NOFOLLOW_LINKS);
            if (!attributes.isRegularFile()
                    || attributes.size() > MAX_OWNER_TEXT
                    || !attributes.permissions().equals(OWNERS_FILE)
                    || (int) Files.getAttribute(file, "unix:uid", LinkOption.NOFOLLOW_LINKS) != Uid.current()) {
                return false;
            }
            return attributes.size() == 0
                    ? Files.getPosixFilePermissions(path).equals(PRIVATE)
                    : OWNER_TEXT.matcher(Files.readString(file)).matches();
        } catch (IOException e) {
            // Removed in the meantime, or not readable as text.
            return false;
        }
    }

    /** Removes a dead server's files; returns whether there were any. Safe beside servers that are starting. */
    public boolean clean(ServerInstance instance) {
        if (!isOwnersFile(instance.lock())) {
            return false;
        }
        Optional<OwnerLock> lock;
        try {
            lock = OwnerLock.tryTakeOver(instance.lock());
        } catch (OsException e) {
            throw Status.Code.FAILED_PRECONDITION
                    .with("what a dead server of %s left cannot be removed: %s", instance.channel(), e.getMessage())
                    .asException(e);
        }
        if (lock.isEmpty()) {
            return false;
        }
        try (OwnerLock held = lock.get()) {
            Files.deleteIfExists(instance.socket());
            return true;
        } catch (IOException e) {
            throw Status.Code.FAILED_PRECONDITION
                    .with("the dead server's socket %s cannot be removed: %s", instance.socket(), e)
                    .asException(e);
        }
    }

    /** Removes all dead servers' files; returns their channels. */
    public List<String> cleanAll() {
        List<String> cleaned = names(all().stream().filter(this::clean));
        removeIfEmpty();
        return cleaned;
    }

    /**
     * Makes this process remove a server's files when it exits, after its exit hooks. Does not apply to a server for
     * which {@link #forgetAtExit} was called.
     */
    public void cleanAtExit(ServerInstance instance) {
        AtExit.OPEN.add(instance);
        if (AtExit.begun) {
            deleteOnExit(instance);
        }
    }

    /** Ends what {@link #cleanAtExit} began. Does nothing for other servers. */
    public static void forgetAtExit(ServerInstance instance) {
        AtExit.OPEN.remove(instance);
    }

    private static void deleteOnExit(ServerInstance instance) {
        try {
            // Deleted in reverse order. The directory stays unless it is empty then.
            instance.lock().toAbsolutePath().getParent().toFile().deleteOnExit();
            instance.lock().toFile().deleteOnExit();
            instance.socket().toFile().deleteOnExit();
        } catch (IllegalStateException e) {
            // The files are being deleted. The next client or server removes these.
            return;
        }
    }

    /**
     * The open servers, whose files are deleted at exit. A file that was passed to the JVM's delete-on-exit cannot be
     * withdrawn, so an exit hook passes them only when the JVM exits; the JVM then deletes them after all hooks.
     */
    private static final class AtExit {
        static final Set<ServerInstance> OPEN = ConcurrentHashMap.newKeySet();
        /**
         * Whether the hook has begun, or cannot. Set before it reads {@link #OPEN}; others add there before they read
         * this.
         */
        static volatile boolean begun;

        static {
            try {
                Runtime.getRuntime().addShutdownHook(new Thread(AtExit::run, "rackcall-exit"));
            } catch (IllegalStateException e) {
                // The process is exiting.
                begun = true;
            }
        }

        private static void run() {
            begun = true;
            OPEN.forEach(RuntimeDirectory::deleteOnExit);
        }
    }

    /** Removes an empty directory; a server that starts at the same time creates it again. Anything else stays. */
    public void removeIfEmpty() {
        try {
            if (Files.isDirectory(path, LinkOption.NOFOLLOW_LINKS)) {
                Files.deleteIfExists(path);
            }
        } catch (DirectoryNotEmptyException e) {
            // Other channels have files here.
            return;
        } catch (IOException e) {
            // An empty directory does no harm.
            return;
        }
    }
}
