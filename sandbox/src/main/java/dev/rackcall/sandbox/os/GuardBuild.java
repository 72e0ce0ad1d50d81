package dev.rackcall.sandbox.os;

import dev.rackcall.shm.os.Uid;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/**
 * Builds the guard's library with the machine's C compiler and keeps it in a folder that only this user can write. The
 * file is named by the hash of its source and build options, so a new release builds its own.
 */
final class GuardBuild {
    private static final List<String> COMPILERS = List.of("cc", "gcc", "clang");
    private static final List<String> FLAGS = List.of("-O2", "-fPIC", "-shared", "-Wl,-z,relro,-z,now", "-x", "c");
    private static final long BOUND_SECONDS = 60;
    private static final int OTHERS_MAY_WRITE = 0022;

    private final Map<String, String> environment;
    private final int uid;

    GuardBuild(Map<String, String> environment) {
        this(environment, Uid.current());
    }

    /** For tests: as another user. */
    GuardBuild(Map<String, String> environment, int uid) {
        this.environment = environment;
        this.uid = uid;
    }

    /**
     * The library, built on first use.
     *
     * @throws UnsupportedFeatureException if there is no compiler, or no place to keep it
     */
    Path library() {
        try {
            byte[] source = source();
            Path folder = folder();
            Path file = folder.resolve("guard-" + hash(source) + ".so");
            if (!isOwn(file)) {
                Files.deleteIfExists(file);
                build(source, folder, file);
            }
            return file;
        } catch (IOException e) {
            throw new UnsupportedFeatureException("The guard cannot be built and kept: " + e + ".", e);
        }
    }

    /** The first C compiler on the path. */
    Optional<Path> compiler() {
        return COMPILERS.stream().flatMap(this::onPath).findFirst();
    }

    private Stream<Path> onPath(String name) {
        return Stream.of(environment.getOrDefault("PATH", "").split(":"))
                .filter(folder -> folder.startsWith("/"))
                .map(folder -> Path.of(folder, name))
                .filter(Files::isExecutable);
    }

    private static byte[] source() throws IOException {
        try (InputStream stream = GuardBuild.class.getResourceAsStream("guard.c")) {
            if (stream == null) {
                throw new IOException("guard.c is missing among the classes");
            }
            return stream.readAllBytes();
        }
    }

    private static String hash(byte[] source) {
        try {
            MessageDigest digest = MessageDigest.getInstance("SHA-256");
            digest.update(source);
            digest.update((FLAGS + System.getProperty("os.arch")).getBytes(java.nio.charset.StandardCharsets.UTF_8));
            return HexFormat.of().formatHex(digest.digest(), 0, 8);
        } catch (NoSuchAlgorithmException e) {
            throw new AssertionError("every JDK has SHA-256", e);
        }
    }

    // ---- where

    private Path folder() throws IOException {
        Path folder = cache().resolve("rackcall");
        Files.createDirectories(folder.getParent());
        try {
            Files.createDirectory(
                    folder, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
        } catch (FileAlreadyExistsException e) {
            if (!isOwn(folder)) {
                throw new UnsupportedFeatureException(
                        "The guard is off: " + folder
                                + " belongs to another user, or others may write there. Remove it or set XDG_CACHE_HOME.",
                        e);
            }
        }
        return folder;
    }

    private Path cache() {
        Optional<Path> own = absolute("XDG_CACHE_HOME");
        Optional<Path> home = absolute("HOME").map(path -> path.resolve(".cache"));
        return own.or(() -> home.filter(path -> Files.isWritable(path) || Files.isWritable(path.getParent())))
                .orElseGet(() -> Path.of(System.getProperty("java.io.tmpdir"), "rackcall-cache-" + uid));
    }

    private Optional<Path> absolute(String variable) {
        return Optional.ofNullable(environment.get(variable))
                .filter(value -> value.startsWith("/"))
                .map(Path::of);
    }

    /** Whether only this user or root can have put it there. */
    private boolean isOwn(Path path) throws IOException {
        if (!Files.exists(path, LinkOption.NOFOLLOW_LINKS)) {
            return false;
        }
        int owner = (int) Files.getAttribute(path, "unix:uid", LinkOption.NOFOLLOW_LINKS);
        int mode = (int) Files.getAttribute(path, "unix:mode", LinkOption.NOFOLLOW_LINKS);
        return (owner == uid || owner == 0) && (mode & OTHERS_MAY_WRITE) == 0 && !Files.isSymbolicLink(path);
    }

    // ---- how

    private void build(byte[] source, Path folder, Path file) throws IOException {
        Path compiler = compiler()
                .orElseThrow(
                        () -> new UnsupportedFeatureException(
                                "There is no C compiler on the path, so the guard is off; install one, such as the package gcc."));
        Path input = Files.createTempFile(folder, "guard", ".c");
        Path output = Files.createTempFile(folder, "guard", ".so");
        Path log = Files.createTempFile(folder, "guard", ".log");
        try {
            Files.write(input, source);
            run(compiler, input, output, log);
            // A temporary file has the mode 0600, which suffices: the loader maps it, and no process executes it.
            Files.move(output, file, StandardCopyOption.ATOMIC_MOVE);
        } finally {
            Files.deleteIfExists(input);
            Files.deleteIfExists(output);
            Files.deleteIfExists(log);
        }
    }

    private static void run(Path compiler, Path input, Path output, Path log) throws IOException {
        List<String> command = Stream.of(
                        Stream.of(compiler.toString()),
                        FLAGS.stream(),
                        Stream.of(input.toString(), "-o", output.toString()))
                .flatMap(part -> part)
                .toList();
        Process process = new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectOutput(log.toFile())
                .start();
        try {
            if (!process.waitFor(BOUND_SECONDS, TimeUnit.SECONDS)) {
                throw new UnsupportedFeatureException(
                        "The guard is off: " + compiler + " did not end in " + BOUND_SECONDS + " s.");
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new UnsupportedFeatureException("The guard is off: its build was interrupted.", e);
        } finally {
            process.destroyForcibly();
        }
        if (process.exitValue() != 0) {
            String said = Files.readString(log).strip();
            throw new UnsupportedFeatureException(
                    "The guard is off: " + compiler + " failed: " + said.substring(0, Math.min(300, said.length())));
        }
    }
}
