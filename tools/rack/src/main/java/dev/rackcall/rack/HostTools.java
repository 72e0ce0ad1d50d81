package dev.rackcall.rack;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.SequencedSet;
import java.util.function.Predicate;

/**
 * What has to be installed: programs that prepare and run guests, and programs and libraries that guests use, who see the machine's own folders. Knows the Debian
 * package of each.
 */
final class HostTools {
    /** The packages, in the order in which they are told. */
    private static final Map<String, String> PACKAGE_OF = packages();

    private static final List<Path> FOLDERS =
            List.of(Path.of("/usr/bin"), Path.of("/bin"), Path.of("/usr/sbin"), Path.of("/sbin"));

    private final Predicate<String> isThere;

    /** @param isThere whether a program or file of {@link #packages()} exists */
    HostTools(Predicate<String> isThere) {
        this.isThere = isThere;
    }

    static HostTools ofThisHost() {
        return new HostTools(HostTools::exists);
    }

    private static Map<String, String> packages() {
        Map<String, String> packages = new LinkedHashMap<>();
        packages.put("qemu-system-x86_64", "qemu-system-x86");
        packages.put("busybox", "busybox-static");
        packages.put("modprobe", "kmod");
        packages.put("xz", "xz-utils");
        packages.put("ip", "iproute2");
        packages.put("rdma", "iproute2");
        packages.put("ndctl", "ndctl");
        packages.put("/etc/libibverbs.d/rxe.driver", "ibverbs-providers");
        packages.put("ibv_rc_pingpong", "ibverbs-utils");
        packages.put("cc", "gcc");
        packages.put("/usr/include/stdlib.h", "libc6-dev");
        packages.put("timeout", "coreutils");
        packages.put("dpkg-deb", "dpkg");
        packages.put("apt-get", "apt");
        return packages;
    }

    /** What is missing, each with its package: {@code ndctl (package ndctl)}. */
    List<String> missing() {
        List<String> missing = new ArrayList<>();
        PACKAGE_OF.forEach((what, name) -> {
            if (!isThere.test(what)) {
                missing.add(what + " (package " + name + ")");
            }
        });
        return missing;
    }

    /** The packages that bring what is missing. */
    SequencedSet<String> missingPackages() {
        SequencedSet<String> names = new LinkedHashSet<>();
        PACKAGE_OF.forEach((what, name) -> {
            if (!isThere.test(what)) {
                names.add(name);
            }
        });
        return names;
    }

    /** Says what is missing and how to get it. */
    void require() throws NotRunException {
        if (!missing().isEmpty()) {
            throw new NotRunException("these are missing: " + String.join(", ", missing())
                    + ". As root: apt-get install --no-install-recommends " + String.join(" ", missingPackages())
                    + ", or ./rackcall rack-test --install");
        }
    }

    /** Where the program lies. Some are not on the path of ordinary users, who may run them all the same. */
    static Path program(String name) {
        return FOLDERS.stream()
                .map(folder -> folder.resolve(name))
                .filter(Files::isExecutable)
                .findFirst()
                .orElse(Path.of(name));
    }

    private static boolean exists(String what) {
        return what.startsWith("/") ? Files.exists(Path.of(what)) : Files.isExecutable(program(what));
    }
}
