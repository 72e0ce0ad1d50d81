package dev.rackcall.perf.crowd;

import dev.rackcall.perf.harness.HostProgram;
import dev.rackcall.perf.harness.Subject;
import dev.rackcall.perf.result.BenchTarget;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

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
    private static final List<Integer> CLIENTS_SURROUNDED = List.of(1, 4, 16);

    /** All, in the order of the report. */
    static final List<CrowdCase> ALL = all();

    private static List<CrowdCase> all() {
        List<CrowdCase> cases = new ArrayList<>();
        for (Surroundings surroundings : Surroundings.values()) {
            for (int clients : surroundings == Surroundings.PLAIN ? CLIENTS : CLIENTS_SURROUNDED) {
                for (CrowdPeer peer : CrowdPeer.values()) {
                    if (clients <= peer.mostClients()) {
                        cases.add(of(peer, clients, surroundings));
                    }
                }
            }
        }
        return List.copyOf(cases);
    }

    private static CrowdCase of(CrowdPeer peer, int clients, Surroundings surroundings) {
        // Cases without a limit share processes.
        String group = peer.word() + (surroundings.isLimited() ? surroundings.suffix() : "");
        Subject subject = peer.subject(name(peer, clients, surroundings))
                .in(BenchTarget.CROWD, group, "")
                .unless(() -> missing(surroundings));
        return new CrowdCase(subject, peer, clients, surroundings);
    }

    private static String name(CrowdPeer peer, int clients, Surroundings surroundings) {
        return "crowd-" + peer.word() + "-" + clients + surroundings.suffix();
    }

    private static Optional<String> missing(Surroundings surroundings) {
        return switch (surroundings) {
            case PLAIN, BURN2, JOLT -> Optional.empty();
            case ONE ->
                HostProgram.onPath("taskset").isPresent()
                        ? Optional.empty()
                        : Optional.of("there is no taskset on the PATH");
            case QUOTA1 -> QuotaGroup.missing();
        };
    }

    /** The name of another peer's result with the same number of clients in the same surroundings. */
    String nameOf(CrowdPeer other) {
        return name(other, clients, surroundings);
    }
}
