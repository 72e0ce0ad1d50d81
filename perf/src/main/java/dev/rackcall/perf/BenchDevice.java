package dev.rackcall.perf;

import dev.rackcall.verbs.AddressVector;
import dev.rackcall.verbs.Context;
import dev.rackcall.verbs.Device;
import dev.rackcall.verbs.Devices;
import dev.rackcall.verbs.Gid;
import java.util.List;
import java.util.Optional;

/** The RDMA device that {@code connect}, {@code elastic} and {@code alock} are measured over: the software device, or the one that was asked for, in all JVMs of a run. */
final class BenchDevice {
    static final String SOFTWARE = "soft:bench";
    private static final String PROPERTY = "rackcall.bench.device";

    private BenchDevice() {}

    static Device get() {
        return Devices.find(System.getProperty(PROPERTY, SOFTWARE));
    }

    /**
     * From now on in this JVM and those that it starts.
     *
     * @throws dev.rackcall.verbs.VerbsException if there is none of that name
     */
    static void use(Optional<String> name) {
        name.map(Devices::find).ifPresent(found -> System.setProperty(PROPERTY, found.name()));
    }

    /** No longer. */
    static void useSoftware() {
        System.clearProperty(PROPERTY);
    }

    /** For a JVM that is to use the same. */
    static List<String> flags() {
        return Optional.ofNullable(System.getProperty(PROPERTY)).stream()
                .map(name -> "-D" + PROPERTY + "=" + name)
                .toList();
    }

    /** The end of a path to a device of this host; it takes a look at each address of the device, so this is to be asked once. */
    record Place(Gid gid, int index) {
        /** That of an IPv4 address if there is one: the others of an Ethernet device are not routed everywhere. */
        static Place of(Context context) {
            int length = context.port(1).gidTableLength();
            for (int i = 0; i < length; i++) {
                if (context.gid(1, i).isIpv4()) {
                    return new Place(context.gid(1, i), i);
                }
            }
            return new Place(context.gid(1, 0), 0);
        }

        AddressVector pathTo(Gid peer) {
            return AddressVector.of(peer, index);
        }
    }
}
