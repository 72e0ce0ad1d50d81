package dev.rackcall.samples.demo;

import com.fasterxml.jackson.annotation.JsonProperty;
import dev.rackcall.samples.documents.JsonLines.BadLine;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/**
 * The result of the demo.
 *
 * @param machine where it ran
 * @param plan its settings
 * @param pointer by pointer
 * @param serialised as JSON over a Unix domain socket
 * @param grpc as protobuf messages by grpc-java over a Unix domain socket
 * @param speedUp how many times faster the run by pointer is than {@code serialised}
 * @param speedUpToGrpc how many times faster the run by pointer is than {@code grpc}
 * @param badLines skipped lines of the input
 * @param firstBadLines some of the skipped lines
 * @param leftBehind processes and files that remain
 * @param seconds the total time
 */
public record Report(
        Machine machine,
        DemoPlan plan,
        Side pointer,
        Side serialised,
        Side grpc,
        SpeedUp speedUp,
        SpeedUp speedUpToGrpc,
        long badLines,
        List<BadLine> firstBadLines,
        List<String> leftBehind,
        double seconds) {
    /**
     * The machine of the figures.
     *
     * @param cores processors that a process may use
     */
    public record Machine(int cores, String cpu, String kernel, String jvm) {
        static Machine here() {
            return new Machine(
                    Runtime.getRuntime().availableProcessors(),
                    processor(),
                    System.getProperty("os.name") + " " + System.getProperty("os.version") + " "
                            + System.getProperty("os.arch"),
                    System.getProperty("java.vendor") + " " + Runtime.version());
        }

        private static String processor() {
            try (Stream<String> lines = Files.lines(Path.of("/proc/cpuinfo"))) {
                return lines.filter(line -> line.startsWith("model name"))
                        .map(line -> line.substring(line.indexOf(':') + 1).strip())
                        .findFirst()
                        .orElse("unknown processor");
            } catch (IOException e) {
                return "unknown processor";
            }
        }
    }

    /** How many times as long another run's times are. */
    public record SpeedUp(double build, double get, double search, double putP50, double getP50, double searchP50) {
        static SpeedUp of(Side fast, Side slow) {
            return new SpeedUp(
                    ratio(slow.buildNs(), fast.buildNs()),
                    ratio(slow.getNs(), fast.getNs()),
                    ratio(slow.searchNs(), fast.searchNs()),
                    ratio(slow.put().p50Ns(), fast.put().p50Ns()),
                    ratio(slow.get().p50Ns(), fast.get().p50Ns()),
                    ratio(slow.search().p50Ns(), fast.search().p50Ns()));
        }

        private static double ratio(long slow, long fast) {
            return fast == 0 ? 0 : Math.round(100.0 * slow / fast) / 100.0;
        }
    }

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
        static Percentiles of(Latencies calls) {
            return new Percentiles(calls.count(), calls.percentile(50), calls.percentile(99), calls.percentile(99.9));
        }
    }

    /**
     * The figures of one transport.
     *
     * @param documents that were handed over
     * @param buildNs from the first client's first document to the last client's last answer, without the preparation
     *     of documents
     * @param put calls that handed over a batch, including building or encoding it
     * @param indexNs the server's part of the build time in the store, the same with all transports
     * @param putCopiedBytes bytes that were copied between processes to hand documents over
     * @param putPointedBytes bytes of documents that were handed over by a Ref
     * @param heldBytes memory of the documents at the server, in whole pages
     * @param gets documents that were got by their numbers and read
     * @param getNs from the first client's first get to the last client's last one
     * @param get gets, including reading the document
     * @param getCopiedBytes bytes that were copied between processes for gets and their results
     * @param searches how many
     * @param searchNs from the first client's first search to the last client's last search
     * @param search searches, including reading all returned documents
     * @param searchCopiedBytes bytes that were copied between processes for searches and their results
     * @param matches documents that the searches counted
     * @param read documents that were returned and read
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
            long gets,
            long getNs,
            Percentiles get,
            long getCopiedBytes,
            long searches,
            long searchNs,
            Percentiles search,
            long searchCopiedBytes,
            long matches,
            long read) {}
}
