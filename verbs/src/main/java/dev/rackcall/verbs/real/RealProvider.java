package dev.rackcall.verbs.real;

import dev.rackcall.verbs.Device;
import dev.rackcall.verbs.VerbsErrno;
import dev.rackcall.verbs.VerbsProvider;
import dev.rackcall.verbs.ffi.NativeLibrary;
import java.util.List;
import java.util.Optional;

/** Provides the devices that libibverbs finds. */
public final class RealProvider implements VerbsProvider {
    private final NativeLibrary library;

    /** For the service loader. */
    public RealProvider() {
        this(NativeLibrary.IBVERBS);
    }

    RealProvider(NativeLibrary library) {
        this.library = library;
    }

    @Override
    public List<Device> devices() {
        return library.isPresent()
                ? DeviceList.read().names().stream()
                        .<Device>map(RealDevice::new)
                        .toList()
                : List.of();
    }

    @Override
    public Optional<Device> find(String name) {
        return devices().stream().filter(device -> device.name().equals(name)).findFirst();
    }

    @Override
    public String diagnosis() {
        if (!library.isPresent()) {
            return "no RDMA device: " + library.name()
                    + " is not installed; install libibverbs1 and ibverbs-providers if this host has one.";
        }
        DeviceList list = DeviceList.read();
        if (list.names().isEmpty()) {
            return "no RDMA device: " + library.name() + " finds none (" + VerbsErrno.name(list.errno())
                    + "); load the driver of the network card, or rdma_rxe to try it in software.";
        }
        return "RDMA devices: " + String.join(", ", list.names()) + ".";
    }
}
