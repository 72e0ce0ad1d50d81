package dev.rackcall.rack;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;

/** An initramfs in cpio's "newc" form, the one that Linux unpacks ({@code Documentation/driver-api/early-userspace/buffer-format.rst}). */
final class CpioArchive {
    private static final int FOLDER = 0040755;
    private static final int PROGRAM = 0100755;
    private static final int LINK = 0120777;

    private final ByteArrayOutputStream out = new ByteArrayOutputStream(16 << 20);
    private int inode = 1;

    /** A folder; its parent comes before. */
    void folder(String path) {
        entry(path, FOLDER, new byte[0]);
    }

    /** A file that may be read and run by all. */
    void file(String path, byte[] content) {
        entry(path, PROGRAM, content);
    }

    /** A symbolic link. */
    void link(String path, String target) {
        entry(path, LINK, target.getBytes(StandardCharsets.UTF_8));
    }

    /** The whole archive. Nothing may be added afterwards. */
    byte[] finish() {
        inode = 0;
        entry("TRAILER!!!", 0, new byte[0]);
        return out.toByteArray();
    }

    private void entry(String path, int mode, byte[] content) {
        byte[] name = (path + "\0").getBytes(StandardCharsets.UTF_8);
        // inode, mode, uid, gid, links, time, size, device of the file, device that it stands for, length of name, sum
        int[] fields = {inode++, mode, 0, 0, 1, 0, content.length, 0, 0, 0, 0, name.length, 0};
        StringBuilder header = new StringBuilder("070701");
        for (int field : fields) {
            header.append(String.format("%08x", field));
        }
        out.writeBytes(header.toString().getBytes(StandardCharsets.US_ASCII));
        out.writeBytes(name);
        align();
        out.writeBytes(content);
        align();
    }

    private void align() {
        out.writeBytes(new byte[-out.size() & 3]);
    }
}
