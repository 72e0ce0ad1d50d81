package dev.rackcall.shm.os.file;

import dev.rackcall.shm.os.OsException;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/** A process that reserves memory until it is refused, for each line of its input, and prints how much it got. */
final class MemoryFiller {
    static final long PIECE = 48L << 20;

    private MemoryFiller() {}

    public static void main(String[] arguments) throws IOException {
        BufferedReader input = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        System.out.println("ready");
        while (input.readLine() != null) {
            List<SharedFile> files = new ArrayList<>();
            String why = fill(files);
            System.out.println("refused " + files.size() * PIECE + " " + why);
            // Until the others were refused, too.
            input.readLine();
            files.forEach(SharedFile::close);
            System.out.println("freed");
        }
    }

    private static String fill(List<SharedFile> files) {
        try {
            while (true) {
                SharedFile file = SharedFile.memfd("filler", PIECE);
                files.add(file);
                file.reserve(0, PIECE);
            }
        } catch (OsException e) {
            files.removeLast().close();
            return e.getMessage();
        }
    }
}
