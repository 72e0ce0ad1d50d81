package dev.rackcall.perf;

import java.io.IOException;

/** One of many workers that begin at a time. Making one is the first part of what is measured. */
interface ElasticWorker extends AutoCloseable {
    /** A way to a server's table. */
    OneSided connect(ElasticServer.Known server) throws IOException;

    @Override
    void close() throws Exception;
}
