package dev.rackcall.cli.view;

import dev.rackcall.cli.top.TopReport;
import java.util.List;
import java.util.Optional;

/**
 * What the page shows of one moment; its form as JSON is what the page reads.
 *
 * @param sequence counts the moments; 0 before the first
 * @param atMillis the time of day
 * @param problem why there is nothing to show; empty if there is
 * @param notReadable processes that this user may not look at
 * @param leftOut connections that are not shown because there are too many
 */
record ViewState(
        long sequence,
        long atMillis,
        String host,
        Optional<String> problem,
        int notReadable,
        int leftOut,
        List<ProcessNode> processes,
        List<ConnectionEdge> connections) {

    /** The same with more connections that are not shown. */
    ViewState leavingOut(int more) {
        return new ViewState(sequence, atMillis, host, problem, notReadable, leftOut + more, processes, connections);
    }

    /**
     * A process.
     *
     * @param hasEnded whether it is dead; its numbers are 0 then
     */
    record ProcessNode(TopReport.ProcessRow row, boolean hasEnded) {}

    /**
     * A connection. Its row is as {@code top} has it, but with the last pids that were known and a state of its own,
     * {@code closed}, for a connection that its processes have closed.
     *
     * @param goneSeconds for how long it has not been there; empty while it is there
     * @param folder the runtime folder of its processes, if it is not the one of this process
     * @param explain the command that explains its route; empty if its name is not a channel's
     */
    record ConnectionEdge(
            TopReport.ConnectionRow row,
            Optional<Long> goneSeconds,
            Optional<String> folder,
            Optional<String> explain) {}
}
