package dev.rackcall.perf.crowd;

import dev.rackcall.perf.harness.HostProgram;
import dev.rackcall.perf.harness.Subject;
import dev.rackcall.perf.result.BenchTarget;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * One result of the target.
 *
 * @param subject its name, what its processes run, and in which group it takes turns
 * @param peer what the clients call through
 * @param clients how many
 * @param surroundings what they share the processors with
 */
record CrowdCase(Subject subject, CrowdPeer peer, int clients, Surroundings surroundings) {
    private static final List<Integer> CLIENTS = List.of(1, 2, 3, 4, 8, 16, 32);
    private static final Set<Integer> CLIENTS_SURROUNDED = Set.of(1, 4, 16);
    private static final Set<Integer> CLIENTS_ON_REQUEST = Set.of(1, 4);

    /** All, in the order of the report. */
    static final List<CrowdCase> ALL = all();

    private static List<CrowdCase> all() {
        List<CrowdCase> cases = new ArrayList<>();
        for (Surroundings surroundings : Surroundings.values()) {
            for (int clients : CLIENTS) {
                for (CrowdPeer peer : CrowdPeer.values()) {
                    if (clients <= peer.mostClients() && isMeasured(peer, clients, surroundings)) {
                        cases.add(of(peer, clients, surroundings));
                    }
                }
            }
        }
        return List.copyOf(cases);
    }

    private static boolean isMeasured(CrowdPeer peer, int clients, Surroundings surroundings) {
        boolean isMain = peer == CrowdPeer.RACKCALL || peer == CrowdPeer.UDS;
        return switch (surroundings) {
            case PLAIN -> true;
            case BURN2 -> isMain || CLIENTS_SURROUNDED.contains(clients);
            case JOLT, ONE, QUOTA1 -> CLIENTS_SURROUNDED.contains(clients);
            case NICE, BATCH, IDLE64 -> isMain && CLIENTS_ON_REQUEST.contains(clients);
        };
    }

    private static CrowdCase of(CrowdPeer peer, int clients, Surroundings surroundings) {
        String group = peer.word() + (surroundings.hasOwnProcesses() ? surroundings.suffix() : "");
        Subject subject = peer.subject(name(peer, clients, surroundings))
                .in(BenchTarget.CROWD, group, "")
                .unless(() -> missing(surroundings));
        return new CrowdCase(surroundings.isOnRequest() ? subject.onRequest() : subject, peer, clients, surroundings);
    }

    private static String name(CrowdPeer peer, int clients, Surroundings surroundings) {
        return "crowd-" + peer.word() + "-" + clients + surroundings.suffix();
    }

    private static Optional<String> missing(Surroundings surroundings) {
        return switch (surroundings) {
            case PLAIN, BURN2, JOLT, IDLE64 -> Optional.empty();
            case ONE -> missing("taskset");
            case NICE -> missing("nice");
            case BATCH -> missing("chrt");
            case QUOTA1 -> QuotaGroup.missing();
        };
    }

    private static Optional<String> missing(String program) {
        return HostProgram.onPath(program).isPresent()
                ? Optional.empty()
                : Optional.of("there is no " + program + " on the PATH");
    }

    /** The name of another peer's result with the same number of clients in the same surroundings. */
    String nameOf(CrowdPeer other) {
        return name(other, clients, surroundings);
    }
}
