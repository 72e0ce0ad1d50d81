package dev.rackcall.samples.demo;

import dev.rackcall.samples.documents.Store;
import java.io.IOException;
import java.lang.management.ManagementFactory;

/** A server of the store over one transport. */
interface StoreServer extends AutoCloseable {
    Store store();

    @Override
    void close() throws IOException;

    static StoreServer open(DemoMessages.Setup setup) throws IOException {
        return switch (setup.transport()) {
            case POINTER -> new PointerServer(setup.directory(), setup.plan());
            case SERIALISED -> new SocketServer(setup.directory());
        };
    }

    /** The quota of the documents: the machine's memory, which is only taken as it is needed. */
    static long quota() {
        long bytes = ManagementFactory.getPlatformMXBean(com.sun.management.OperatingSystemMXBean.class)
                .getTotalMemorySize();
        return bytes & -(1L << 20);
    }
}
