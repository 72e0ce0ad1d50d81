package dev.rackcall.cli;

import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The first two numbers of a Linux release, which determine its features.
 *
 * @param major the 6 of 6.10
 * @param minor the 10 of 6.10
 */
record KernelVersion(int major, int minor) {
    private static final Pattern RELEASE = Pattern.compile("(\\d{1,4})\\.(\\d{1,4}).*", Pattern.DOTALL);

    /** Reads a release as {@code uname -r} prints it, for example {@code 6.1.0-37-amd64}. */
    static Optional<KernelVersion> parse(String release) {
        Matcher matcher = RELEASE.matcher(release);
        return matcher.matches()
                ? Optional.of(new KernelVersion(Integer.parseInt(matcher.group(1)), Integer.parseInt(matcher.group(2))))
                : Optional.empty();
    }

    /** The host's version; 0.0 if it cannot be read. */
    static KernelVersion of(HostFiles host) {
        return host.text("/proc/sys/kernel/osrelease")
                .flatMap(KernelVersion::parse)
                .orElse(new KernelVersion(0, 0));
    }

    boolean isAtLeast(int wantedMajor, int wantedMinor) {
        return major > wantedMajor || (major == wantedMajor && minor >= wantedMinor);
    }

    @Override
    public String toString() {
        return major + "." + minor;
    }
}
