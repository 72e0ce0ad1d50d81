package dev.rackcall.perf.elastic;

import java.io.IOException;
import java.util.List;

/** One of many workers that start at the same time. Creating a worker is the first part of the measurement. */
interface ElasticWorker extends AutoCloseable {
    /** A reader of each server's table, in their order. */
    List<RaceReader> connect(List<ElasticServer.Known> servers) throws IOException;

    @Override
    void close() throws Exception;
}
