package dev.rackcall.samples.demo;

import com.fasterxml.jackson.annotation.JsonProperty;
import dev.rackcall.samples.documents.BadLine;
import java.util.List;
import org.HdrHistogram.Histogram;

/**
 * What the demo found out.
 *
 * @param machine where it ran
 * @param plan what it did
 * @param pointer by pointer
 * @param serialised over a Unix domain socket
 * @param speedUp how many times faster by pointer
 * @param badLines lines of the input that were passed over
 * @param firstBadLines some of them
 * @param leftBehind what is still there after the end
 * @param seconds what all of it took
 */
public record Report(
        Machine machine,
        DemoPlan plan,
        Side pointer,
        Side serialised,
        SpeedUp speedUp,
        long badLines,
        List<BadLine> firstBadLines,
        List<String> leftBehind,
        double seconds) {
    /**
     * Where the figures came about.
     *
     * @param cores processors that a process may use
     */
    public record Machine(int cores, String cpu, String kernel, String jvm) {}

    /** How many times shorter the pointer's side is. */
    public record SpeedUp(double build, double search, double putP50, double searchP50) {}

    /**
     * Latencies of calls in nanoseconds.
     *
     * @param calls how many
     */
    public record Percentiles(
            long calls,
            long p50Ns,
            @JsonProperty("p99_ns") long p99Ns,
            @JsonProperty("p999_ns") long p999Ns) {
        static Percentiles of(Histogram histogram) {
            return new Percentiles(
                    histogram.getTotalCount(), at(histogram, 50), at(histogram, 99), at(histogram, 99.9));
        }

        private static long at(Histogram histogram, double percentile) {
            return histogram.getTotalCount() == 0 ? 0 : histogram.getValueAtPercentile(percentile);
        }
    }

    /**
     * One way to the store.
     *
     * @param documents that were handed over
     * @param buildNs from the first client's first document to the last client's last answer, without what prepared the documents
     * @param put calls that handed over a batch, with building or encoding it
     * @param indexNs of the build time, what the server spent in the store, which is the same on both sides
     * @param putCopiedBytes bytes that were copied from one process to the other to hand documents over
     * @param putPointedBytes bytes of documents that were handed over by a Ref
     * @param heldBytes memory of the documents at the server, in whole pages
     * @param searches how many
     * @param searchNs from the first client's first search to the last client's last
     * @param search searches with reading all documents that came back
     * @param searchCopiedBytes bytes that were copied from one process to the other for searches and their results
     * @param matches documents that the searches counted
     * @param read documents that came back and were read
     */
    public record Side(
            StoreTransport transport,
            long documents,
            long buildNs,
            Percentiles put,
            long indexNs,
            long putCopiedBytes,
            long putPointedBytes,
            long heldBytes,
            long searches,
            long searchNs,
            Percentiles search,
            long searchCopiedBytes,
            long matches,
            long read) {}
}
