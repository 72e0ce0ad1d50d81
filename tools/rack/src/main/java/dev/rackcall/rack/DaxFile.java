package dev.rackcall.rack;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/**
 * The memory that A and B share: a sparse file in the machine's memory. Each guest that has it as a memory module shows
 * it as /dev/dax0.0, less 2 MiB for the info block at its start. The entries of its pages lie in the guest's own memory
 * ({@code -M mem}), since two kernels could not share them.
 */
record DaxFile(Path path, long bytes) implements AutoCloseable {
    static final String DEVICE = "/dev/dax0.0";
    static final long BYTES = 256 << 20;

    static DaxFile create(String name) throws IOException, NotRunException {
        Path folder = Path.of("/dev/shm");
        Path path = Files.createTempFile(
                Files.isWritable(folder) ? folder : Path.of(System.getProperty("java.io.tmpdir")), name, ".dax");
        // Deletes the file if the command is interrupted.
        path.toFile().deleteOnExit();
        String block = HostTools.program("ndctl") + " write-infoblock -m devdax -M mem -a 2M -o " + path;
        DaxFile file = new DaxFile(path, BYTES);
        try {
            Program.run(List.of("sh", "-c", "truncate -s " + BYTES + " " + path + " && " + block), folder, line -> {});
            return file;
        } catch (NotRunException e) {
            file.close();
            throw e;
        }
    }

    @Override
    public void close() throws IOException {
        Files.deleteIfExists(path);
    }
}
