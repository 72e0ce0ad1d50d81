package dev.rackcall.rpc.shm.view;

import dev.rackcall.rpc.Route;
import dev.rackcall.rpc.shm.notes.ProcessId;
import java.util.Optional;

/**
 * What a connection's memory said at one moment. Its processes have written these values and may lie.
 *
 * @param server its process; its pid is 0 if it is not known
 * @param client likewise
 * @param isPolled whether the server polls the connection; otherwise it sleeps until the next caller rings
 * @param slots 0 for a gRPC connection, whose memory tells neither how its server polls nor how callers wait
 * @param requests how many requests the client has sent: calls, elements of streams, releases of results; of a gRPC
 *     connection, calls
 * @param inFlight requests that have no answer yet
 * @param sleeping callers that sleep until their answers come; other callers spin
 * @param times how long calls took, since the connection began
 * @param waits how callers and the server waited, since the connection began
 * @param route how calls travel; empty if the memory does not tell
 */
public record ConnectionReading(
        ProcessId server,
        ProcessId client,
        int slots,
        ConnectionState state,
        boolean isPolled,
        long requests,
        int inFlight,
        int sleeping,
        TimeCounts times,
        WaitReading waits,
        Optional<Route.Kind> route) {}
