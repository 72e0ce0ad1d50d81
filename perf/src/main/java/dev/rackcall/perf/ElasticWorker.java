package dev.rackcall.perf;

import java.io.IOException;
import java.util.List;

/** One of many workers that begin at a time. Making one is the first part of what is measured. */
interface ElasticWorker extends AutoCloseable {
    /** A way to each server's table, in their order. */
    List<OneSided> connect(List<ElasticServer.Known> servers) throws IOException;

    @Override
    void close() throws Exception;
}
