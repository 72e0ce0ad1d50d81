package dev.rackcall.rpc.spi;

import java.util.List;
import java.util.ServiceLoader;

/** The transports on the class path. */
public final class Transports {
    private static final List<Transport> ALL =
            ServiceLoader.load(Transport.class, Transport.class.getClassLoader()).stream()
                    .map(ServiceLoader.Provider::get)
                    .toList();

    private Transports() {}

    /** The preferred one. */
    public static Transport first() {
        if (ALL.isEmpty()) {
            throw new IllegalStateException(
                    "no transport on the class path; META-INF/services/" + Transport.class.getName() + " is missing");
        }
        return ALL.getFirst();
    }
}
