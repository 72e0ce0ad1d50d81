package dev.rackcall.verbs;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.ServiceLoader;
import java.util.stream.Collectors;

/** The RDMA devices that this process can use. */
public final class Devices {
    private Devices() {}

    /** All devices: real ones first, then the software device, which always exists. */
    public static List<Device> list() {
        List<Device> devices = new ArrayList<>();
        for (VerbsProvider provider : providers()) {
            devices.addAll(provider.devices());
        }
        return devices;
    }

    /**
     * The device of this name. {@code soft:NAME} needs no preparation.
     *
     * @throws VerbsException if there is none
     */
    public static Device find(String name) {
        for (VerbsProvider provider : providers()) {
            Optional<Device> found = provider.find(name);
            if (found.isPresent()) {
                return found.get();
            }
        }
        throw new VerbsException(
                "no RDMA device '" + name + "'",
                VerbsErrno.ENODEV,
                "there are " + list().stream().map(Device::name).collect(Collectors.joining(", ")));
    }

    /** One sentence from each provider that explains which devices there are, or why there are none. */
    public static List<String> diagnosis() {
        return providers().stream().map(VerbsProvider::diagnosis).toList();
    }

    private static List<VerbsProvider> providers() {
        // Hardware is preferred: the software device comes last.
        return ServiceLoader.load(VerbsProvider.class, Devices.class.getClassLoader()).stream()
                .map(ServiceLoader.Provider::get)
                .sorted(Comparator.comparing(provider -> provider.find("soft:").isPresent()))
                .toList();
    }
}
