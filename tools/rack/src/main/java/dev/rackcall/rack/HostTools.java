package dev.rackcall.rack;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.function.Predicate;

/**
 * What must be installed: programs that prepare and run guests, and programs and libraries that guests use in the
 * machine's own folders. Names the Debian package of each.
 */
final class HostTools {
    /** A program or a file, and its package. */
    private record Need(String what, String packageName) {}

    /** In the order of the messages. */
    private static final List<Need> NEEDS = List.of(
            new Need("qemu-system-x86_64", "qemu-system-x86"),
            new Need("busybox", "busybox-static"),
            new Need("cpio", "cpio"),
            new Need("modprobe", "kmod"),
            new Need("xz", "xz-utils"),
            new Need("ip", "iproute2"),
            new Need("rdma", "iproute2"),
            new Need("ndctl", "ndctl"),
            new Need("/etc/libibverbs.d/rxe.driver", "ibverbs-providers"),
            new Need("ibv_rc_pingpong", "ibverbs-utils"),
            new Need("cc", "gcc"),
            new Need("/usr/include/stdlib.h", "libc6-dev"),
            new Need("timeout", "coreutils"),
            new Need("dpkg-deb", "dpkg"),
            new Need("apt-get", "apt"));

    private static final List<Path> FOLDERS =
            List.of(Path.of("/usr/bin"), Path.of("/bin"), Path.of("/usr/sbin"), Path.of("/sbin"));

    private final List<Need> missing;

    /** @param isThere whether a program or file exists */
    HostTools(Predicate<String> isThere) {
        missing = NEEDS.stream().filter(need -> !isThere.test(need.what)).toList();
    }

    static HostTools ofThisHost() {
        return new HostTools(
                what -> what.startsWith("/") ? Files.exists(Path.of(what)) : Files.isExecutable(program(what)));
    }

    /** Each missing program with its package: {@code ndctl (package ndctl)}. */
    List<String> missing() {
        return missing.stream()
                .map(need -> need.what + " (package " + need.packageName + ")")
                .toList();
    }

    /** The packages that bring the missing programs. */
    List<String> missingPackages() {
        return missing.stream().map(Need::packageName).distinct().toList();
    }

    /** @throws NotRunException with what is missing and how to install it */
    void require() throws NotRunException {
        if (!missing.isEmpty()) {
            throw new NotRunException("these are missing: " + String.join(", ", missing())
                    + ". As root: apt-get install --no-install-recommends " + String.join(" ", missingPackages())
                    + ", or ./rackcall rack-test --install");
        }
    }

    /** The program's path. Some are not on the PATH of ordinary users, but anyone may run them. */
    static Path program(String name) {
        return FOLDERS.stream()
                .map(folder -> folder.resolve(name))
                .filter(Files::isExecutable)
                .findFirst()
                .orElse(Path.of(name));
    }
}
