package dev.rackcall.rack;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;

/**
 * The kernel's ELF file, taken out of the bzImage that a package brings. QEMU starts it by its PVH note, which saves the guest from unpacking the kernel under
 * emulation: 9 s. Offsets are those of the kernel's {@code Documentation/arch/x86/boot.rst}.
 */
final class Vmlinux {
    private static final int SETUP_SECTORS = 0x1f1;
    private static final int MAGIC = 0x202;
    private static final int HDRS = 0x53726448;
    private static final int PAYLOAD = 0x248;
    private static final int SECTOR = 512;
    private static final int ELF = 0x464c457f;
    private static final int ZSTD = 0xfd2fb528;
    private static final int XZ = 0x587a37fd;
    /** The payload ends with the length of what it unpacks to. */
    private static final int LENGTH_BYTES = 4;

    private Vmlinux() {}

    /** The ELF file in {@code bzImage}, unpacked by the program that its packing needs. */
    static byte[] of(byte[] bzImage, Path folder) throws NotRunException {
        ByteBuffer image = ByteBuffer.wrap(bzImage).order(ByteOrder.LITTLE_ENDIAN);
        byte[] packed = payload(bzImage, image);
        int magic = ByteBuffer.wrap(packed).order(ByteOrder.LITTLE_ENDIAN).getInt();
        String unpacker = switch (magic) {
            case XZ -> "xz";
            case ZSTD -> "zstd";
            default ->
                throw new NotRunException(
                        "the kernel is packed in a way that this program does not know (it begins with "
                                + Integer.toHexString(magic) + ")");
        };
        byte[] elf =
                Program.outputWhateverStatus(List.of(HostTools.program(unpacker).toString(), "-dc"), folder, packed);
        if (elf.length < Integer.BYTES
                || ByteBuffer.wrap(elf).order(ByteOrder.LITTLE_ENDIAN).getInt() != ELF) {
            throw new NotRunException(
                    unpacker + " did not make an ELF file of the kernel; it gave " + elf.length + " bytes");
        }
        return elf;
    }

    private static byte[] payload(byte[] bzImage, ByteBuffer image) throws NotRunException {
        if (image.limit() < PAYLOAD + 8 || image.getInt(MAGIC) != HDRS) {
            throw new NotRunException("the package's vmlinuz is no bzImage");
        }
        int sectors = Byte.toUnsignedInt(image.get(SETUP_SECTORS));
        long start = (long) ((sectors == 0 ? 4 : sectors) + 1) * SECTOR + Integer.toUnsignedLong(image.getInt(PAYLOAD));
        long length = Integer.toUnsignedLong(image.getInt(PAYLOAD + 4)) - LENGTH_BYTES;
        if (length < LENGTH_BYTES || start + length > image.limit()) {
            throw new NotRunException("the package's vmlinuz is cut off: it should have " + (start + length)
                    + " bytes and has " + image.limit());
        }
        return Arrays.copyOfRange(bzImage, (int) start, (int) (start + length));
    }
}
