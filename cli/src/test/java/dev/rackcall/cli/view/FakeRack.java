package dev.rackcall.cli.view;

import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;
import java.util.stream.Collectors;

/** Other hosts as a test wants them. */
record FakeRack(Supplier<Optional<RackReport>> names, Supplier<List<OtherHost>> others) implements RackView {
    @Override
    public Optional<RackReport> report() {
        return names.get();
    }

    @Override
    public List<OtherHost> hosts() {
        return others.get();
    }

    @Override
    public Map<String, ViewSeries> series() {
        return others.get().stream()
                .collect(Collectors.toMap(OtherHost::key, _ -> new ViewSeries(List.of(), Map.of())));
    }
}
