package dev.rackcall.rpc.shm.view;

import dev.rackcall.rpc.Route;
import java.util.Optional;

/**
 * What a connection's memory said at one moment. Its processes have written these values and may lie.
 *
 * @param serverPid in the server's pid namespace; 0 if it is not known
 * @param clientPid likewise
 * @param isPolled whether the server polls the connection; otherwise it sleeps until the next caller rings
 * @param requests how many requests the client has sent: calls, elements of streams, releases of results
 * @param inFlight requests that have no answer yet
 * @param sleeping callers that sleep until their answers come; other callers spin
 * @param times how long calls took, since the connection began
 * @param waits how callers and the server waited, since the connection began
 * @param route how calls travel; empty if the memory does not tell
 */
public record ConnectionReading(
        int serverPid,
        int clientPid,
        int slots,
        ConnectionState state,
        boolean isPolled,
        long requests,
        int inFlight,
        int sleeping,
        TimeCounts times,
        WaitReading waits,
        Optional<Route.Kind> route) {}
