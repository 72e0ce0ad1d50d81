package dev.rackcall.cli.top;

import dev.rackcall.rpc.shm.notes.PipeNote;
import dev.rackcall.rpc.shm.notes.PoolNote;
import dev.rackcall.rpc.shm.notes.ProcessId;
import dev.rackcall.shm.os.file.FileStatus;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.AccessDeniedException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermission;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Finds the processes that hold memory of Rackcall's by the links in {@code /proc/PID/fd}. Processes that held none are
 * looked at again only now and then, because a host may have thousands. For one thread.
 */
final class ProcFolder {
    private static final String NAME_PREFIX = "/memfd:rackcall";
    private static final String POOL_PREFIX = PoolNote.NAME.substring("rackcall".length());
    private static final String GRPC_PREFIX = PipeNote.NAME.substring("rackcall".length()) + "/";
    private static final String NAME_SUFFIX = " (deleted)";
    private static final int MOST_NAME = 255;
    /** Every how many scans a process that held nothing is looked at again. */
    private static final int PATIENCE = 8;

    private final Path folder;
    private final int self = (int) ProcessHandle.current().pid();
    private Map<Integer, MemoryHolder> holders = new LinkedHashMap<>();
    private Set<Integer> known = new HashSet<>();
    private final Set<Integer> unreadable = new HashSet<>();
    private int scans;

    ProcFolder(Path folder) {
        this.folder = folder;
    }

    /** Looks for processes; returns those that hold memory of Rackcall's. */
    List<MemoryHolder> scan() throws IOException {
        scans++;
        Set<Integer> living = pids();
        Map<Integer, MemoryHolder> found = new LinkedHashMap<>();
        for (int pid : living) {
            boolean isDue = holders.containsKey(pid) || !known.contains(pid) || (pid + scans) % PATIENCE == 0;
            if (pid != self && isDue) {
                look(pid).ifPresent(holder -> found.put(pid, holder));
            }
        }
        unreadable.retainAll(living);
        known = living;
        holders = found;
        return List.copyOf(found.values());
    }

    /** Processes, other than the kernel's, that this user may not look at. */
    int unreadable() {
        return unreadable.size();
    }

    /** Whether it runs. A killed process keeps its folder until its parent asks for its exit code. */
    boolean isAlive(int pid) {
        try {
            String stat = Files.readString(
                    folder.resolve(Integer.toString(pid)).resolve("stat"), StandardCharsets.ISO_8859_1);
            // The state follows the name, which is in parentheses and may hold anything.
            int state = stat.lastIndexOf(')') + 2;
            return state >= stat.length() || "ZX".indexOf(stat.charAt(state)) < 0;
        } catch (IOException e) {
            return false;
        }
    }

    private Set<Integer> pids() throws IOException {
        try (Stream<Path> entries = Files.list(folder)) {
            return entries.map(entry -> entry.getFileName().toString())
                    .filter(name -> name.matches("[1-9][0-9]{0,8}"))
                    .map(Integer::valueOf)
                    .collect(Collectors.toSet());
        }
    }

    private Optional<MemoryHolder> look(int pid) {
        Path process = folder.resolve(Integer.toString(pid));
        try {
            List<HeldMemory> memory = memory(process.resolve("fd"));
            unreadable.remove(pid);
            if (memory.isEmpty()) {
                return Optional.empty();
            }
            MemoryHolder before = holders.get(pid);
            return Optional.of(
                    before == null
                            ? new MemoryHolder(pid, name(process), id(pid, process), memory)
                            : new MemoryHolder(pid, before.name(), before.id(), memory));
        } catch (AccessDeniedException e) {
            if (!known.contains(pid) && !commandLine(process).isEmpty()) {
                unreadable.add(pid);
            }
            return Optional.empty();
        } catch (IOException e) {
            // It ended meanwhile.
            return Optional.empty();
        }
    }

    private static List<HeldMemory> memory(Path descriptors) throws IOException {
        Map<HeldMemory.FileId, HeldMemory> memory = new LinkedHashMap<>();
        try (DirectoryStream<Path> links = Files.newDirectoryStream(descriptors)) {
            for (Path link : links) {
                held(link).ifPresent(each -> memory.merge(each.file(), each, HeldMemory::and));
            }
        } catch (DirectoryIteratorException e) {
            throw e.getCause();
        }
        return List.copyOf(memory.values());
    }

    private static Optional<HeldMemory> held(Path link) throws AccessDeniedException {
        try {
            String target = Files.readSymbolicLink(link).toString();
            if (!target.startsWith(NAME_PREFIX) || !isWritable(link)) {
                return Optional.empty();
            }
            String name = target.substring(NAME_PREFIX.length());
            String plain = name.endsWith(NAME_SUFFIX) ? name.substring(0, name.length() - NAME_SUFFIX.length()) : name;
            if (plain.startsWith(POOL_PREFIX)) {
                return inPool(plain.substring(POOL_PREFIX.length()), link);
            }
            boolean isGrpc = plain.startsWith(GRPC_PREFIX);
            return FileStatus.ofTarget(link)
                    .map(status -> new HeldMemory(
                            new HeldMemory.FileId(status.device(), status.inode(), 0),
                            printable(isGrpc ? plain.substring(GRPC_PREFIX.length() - 1) : plain),
                            isGrpc,
                            link,
                            status.allocatedBytes(),
                            List.of()));
        } catch (AccessDeniedException e) {
            // Root in a container may list the links of all processes, but follow only those of its own user.
            throw e;
        } catch (IOException e) {
            // The process has closed it meanwhile.
            return Optional.empty();
        }
    }

    private static Optional<HeldMemory> inPool(String channel, Path link) throws IOException {
        // No connection lies at the start of a pool; memory of another kind may begin there.
        Optional<PoolNote> window = PoolNote.read(link).filter(note -> note.place() > 0);
        if (window.isEmpty()) {
            return Optional.empty();
        }
        Path pool = link.resolveSibling(Integer.toString(window.get().descriptor()));
        return FileStatus.ofTarget(pool)
                .map(status -> new HeldMemory(
                        new HeldMemory.FileId(
                                status.device(), status.inode(), window.get().place()),
                        printable(channel),
                        false,
                        pool,
                        0,
                        List.of(window.get())));
    }

    /** Whether the process holds it for writing, unlike another observer. The link's permissions say so. */
    private static boolean isWritable(Path link) throws IOException {
        return Files.getPosixFilePermissions(link, LinkOption.NOFOLLOW_LINKS).contains(PosixFilePermission.OWNER_WRITE);
    }

    /** The process as it knows itself: by its pid in the innermost of its pid namespaces. */
    private static ProcessId id(int pid, Path process) {
        int innermost = pid;
        try (Stream<String> lines = Files.lines(process.resolve("status"), StandardCharsets.ISO_8859_1)) {
            innermost = lines.filter(line -> line.matches("NSpid:[\\s0-9]*\\s[0-9]{1,9}\\s*"))
                    .map(line -> line.strip().split("\\s+"))
                    .map(words -> Integer.valueOf(words[words.length - 1]))
                    .findFirst()
                    .orElse(pid);
        } catch (IOException | UncheckedIOException e) {
            // It ended meanwhile; its pid suffices.
        }
        return new ProcessId(innermost, ProcessId.namespace(process.resolve("ns/pid")));
    }

    private static List<String> commandLine(Path process) {
        try {
            String all = Files.readString(process.resolve("cmdline"), StandardCharsets.ISO_8859_1);
            return all.isEmpty() ? List.of() : List.of(all.split("\0"));
        } catch (IOException e) {
            return List.of();
        }
    }

    /** The main class or jar of a JVM, the program of another process. */
    private static String name(Path process) {
        List<String> words = new ArrayList<>(commandLine(process));
        if (words.isEmpty()) {
            return "?";
        }
        String program = lastPart(words.removeFirst(), '/');
        if (!program.equals("java")) {
            return printable(program);
        }
        while (!words.isEmpty()) {
            String word = words.removeFirst();
            if (word.equals("-jar") && !words.isEmpty()) {
                return printable(lastPart(words.getFirst(), '/'));
            }
            if (Set.of("-cp", "-classpath", "--class-path", "-p", "--module-path")
                            .contains(word)
                    && !words.isEmpty()) {
                words.removeFirst();
            } else if (!word.startsWith("-") && !word.startsWith("@")) {
                return printable(lastPart(word, '.'));
            }
        }
        return program;
    }

    private static String lastPart(String word, char separator) {
        return word.substring(word.lastIndexOf(separator) + 1);
    }

    private static String printable(String name) {
        return PrintableText.of(name, MOST_NAME, '?');
    }
}
