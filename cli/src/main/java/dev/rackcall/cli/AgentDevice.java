package dev.rackcall.cli;

import dev.rackcall.verbs.Device;
import dev.rackcall.verbs.Devices;
import dev.rackcall.verbs.soft.SoftDevice;
import dev.rackcall.verbs.soft.SoftOptions;
import dev.rackcall.verbs.soft.TlsOptions;
import java.net.Inet4Address;
import java.net.InetAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** The options for an agent's device, and for how a software device works. */
final class AgentDevice {
    private static final String CERTIFICATES = "certificates.pem";
    private static final String KEY = "key.pem";
    private static final String AUTHORITY = "authority.pem";

    @Spec(Spec.Target.MIXEE)
    private CommandSpec spec;

    @Option(
            names = "--device",
            paramLabel = "DEVICE",
            description = "The RDMA device, for example mlx5_0 or soft:NAME, a software device over TCP (default:"
                    + " ${DEFAULT-VALUE}).",
            defaultValue = "soft:agent")
    private String name = "";

    @Option(
            names = "--listen",
            paramLabel = "ADDRESS",
            description =
                    "The IPv4 address of this host at which a software device listens, at any free port: agents on"
                            + " other hosts connect to it (default: 127.0.0.1, for this host alone).")
    private Optional<String> listen = Optional.empty();

    @Option(
            names = "--tls",
            paramLabel = "FOLDER",
            description = "A software device talks only by TLS, and only with devices whose certificate is trusted. The"
                    + " folder has " + CERTIFICATES + " (its own chain), " + KEY + " (PKCS#8, no password) and "
                    + AUTHORITY
                    + " (trusted authorities).")
    private Optional<Path> tls = Optional.empty();

    private boolean isSoftware() {
        return name.startsWith(SoftDevice.PREFIX);
    }

    /** Whether only agents on this host reach it because no --listen was given. */
    boolean isForThisHostByDefault() {
        return isSoftware() && listen.isEmpty();
    }

    /** Checks the options without opening the device. */
    void validate() {
        require(
                isSoftware() || (listen.isEmpty() && tls.isEmpty()),
                "--listen and --tls are for software devices, and " + name
                        + " is none; leave them out, or name a device soft:NAME");
        listen.ifPresent(this::address);
        for (String file : new String[] {CERTIFICATES, KEY, AUTHORITY}) {
            tls.ifPresent(folder -> require(
                    Files.isReadable(folder.resolve(file)),
                    "--tls: " + folder.resolve(file) + " cannot be read; it needs " + CERTIFICATES + ", " + KEY
                            + " and " + AUTHORITY));
        }
    }

    private InetAddress address(String text) {
        InetAddress address;
        try {
            address = InetAddress.ofLiteral(text);
        } catch (IllegalArgumentException e) {
            throw new ParameterException(
                    spec.commandLine(),
                    "--listen " + text + " is no address; give one of this host, such as 10.0.0.1",
                    e);
        }
        require(
                address instanceof Inet4Address && !address.isAnyLocalAddress(),
                "--listen " + text
                        + ": agents on other hosts use this address, so give an IPv4 address of this host, such as 10.0.0.1");
        return address;
    }

    private void require(boolean condition, String otherwise) {
        if (!condition) {
            throw new ParameterException(spec.commandLine(), otherwise);
        }
    }

    /** @throws dev.rackcall.verbs.VerbsException if there is no such device */
    Device find() {
        if (!isSoftware()) {
            return Devices.find(name);
        }
        SoftOptions options = SoftOptions.local();
        if (listen.isPresent()) {
            options = options.at(address(listen.get()), 0);
        }
        if (tls.isPresent()) {
            Path folder = tls.get();
            options = options.withTls(
                    new TlsOptions(folder.resolve(CERTIFICATES), folder.resolve(KEY), folder.resolve(AUTHORITY)));
        }
        return SoftDevice.of(name.substring(SoftDevice.PREFIX.length()), options);
    }

    /** A warning for the user, if there is one. */
    Optional<String> warning() {
        if (tls.isPresent()) {
            return Optional.empty();
        }
        return listen.map(this::address).map(each -> {
            boolean isHere = each.isLoopbackAddress();
            return "without --tls: any " + (isHere ? "user of this host" : "host that reaches " + listen.get())
                    + " can register hosts, try keys and read this host's numbers; use it "
                    + (isHere ? "on hosts that only trusted users share" : "in networks that only trusted hosts reach");
        });
    }
}
