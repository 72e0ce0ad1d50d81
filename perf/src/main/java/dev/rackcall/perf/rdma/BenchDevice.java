package dev.rackcall.perf.rdma;

import dev.rackcall.verbs.Device;
import dev.rackcall.verbs.Devices;
import java.util.Optional;

/**
 * The RDMA device of {@code connect}, {@code elastic} and {@code alock}, in all JVMs of a run: the software device, or
 * the one of {@code --device}.
 */
public final class BenchDevice {
    static final String SOFTWARE = "soft:bench";
    /** An option of the run: measured JVMs get it, too. */
    private static final String PROPERTY = "rackcall.bench.device";

    private BenchDevice() {}

    /** The run's device. */
    public static Device get() {
        return Devices.find(System.getProperty(PROPERTY, SOFTWARE));
    }

    /**
     * Chooses the device of this JVM and those that it starts from now on; empty means the software device.
     *
     * @throws dev.rackcall.verbs.VerbsException if there is none of that name
     */
    public static void use(Optional<String> name) {
        name.map(Devices::find)
                .ifPresentOrElse(
                        found -> System.setProperty(PROPERTY, found.name()), () -> System.clearProperty(PROPERTY));
    }
}
