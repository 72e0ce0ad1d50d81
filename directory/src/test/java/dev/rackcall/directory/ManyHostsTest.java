package dev.rackcall.directory;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.URI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

/**
 * The cost of a lookup does not depend on the number of hosts. Costs are requests to the store and entries in its
 * answers.
 */
class ManyHostsTest {
    private static final Duration PATIENCE = Duration.ofSeconds(60);

    private final CountingStore store = new CountingStore();
    private int hosts;

    private static ChannelName channel(int host) {
        return ChannelName.of("/rack-" + host % 40 + "/store-" + host);
    }

    private static Endpoint endpoint(int host) {
        return Endpoint.of("server-" + host, "host-" + host, 0xcafe)
                .withPool("dax0.0")
                .withRdma(List.of(URI.create("rdma://10.1." + host / 250 + "." + host % 250 + ":18515")))
                .withTcp(List.of(URI.create("tcp://10.1." + host / 250 + "." + host % 250 + ":18516")));
    }

    private void announceUpTo(Directory directory, int count) {
        for (; hosts < count; hosts++) {
            directory.announce(channel(hosts), endpoint(hosts));
        }
    }

    /** Of one host's channel, and of what one more host does when it joins. */
    private List<Integer> costs(Directory directory) throws InterruptedException {
        List<Integer> costs = new ArrayList<>();
        store.forgetCounts();
        assertThat(directory.endpoints(channel(77))).containsExactly(endpoint(77));
        costs.add(store.questions);
        costs.add(store.entries);

        store.forgetCounts();
        try (ChannelView view = directory.follow(channel(55))) {
            assertThat(view.await(PATIENCE)).containsExactly(endpoint(55));
            costs.add(store.questions);
            costs.add(store.entries);
            store.forgetCounts();
            for (int i = 0; i < 1_000; i++) {
                assertThat(view.endpoints()).hasSize(1);
            }
            assertThat(store.questions).as("of a channel that is followed").isZero();
        }

        store.forgetCounts();
        announceUpTo(directory, hosts + 1);
        costs.add(store.questions);
        costs.add(store.entries);
        return costs;
    }

    @Test
    void shouldCostTheSameAmong10000HostsAsAmong100() throws Exception {
        try (Directory directory = Directory.over(store)) {
            announceUpTo(directory, 100);
            List<Integer> few = costs(directory);
            announceUpTo(directory, 9_999);

            assertThat(costs(directory)).isEqualTo(few);

            assertThat(hosts).isEqualTo(10_000);
            assertThat(directory.channels()).hasSize(10_000);
            assertThat(store.bytes() / hosts).as("bytes of a host's entry").isLessThanOrEqualTo(512);
        }
    }

    /** In this process's memory. Used by one thread at a time. */
    private static final class CountingStore implements DirectoryStore {
        private final SortedMap<String, byte[]> all = new TreeMap<>();
        int questions;
        int entries;

        void forgetCounts() {
            questions = 0;
            entries = 0;
        }

        long bytes() {
            return all.entrySet().stream()
                    .mapToLong(entry -> entry.getKey().length() + entry.getValue().length)
                    .sum();
        }

        private SortedMap<String, byte[]> below(String folder) {
            // '0' is what comes after '/'.
            return all.subMap(folder + "/", folder + "0");
        }

        @Override
        public boolean create(String path, byte[] value) {
            questions++;
            return all.putIfAbsent(path, value) == null;
        }

        @Override
        public boolean replace(String path, byte[] value) {
            questions++;
            return all.replace(path, value) != null;
        }

        @Override
        public void remove(String path) {
            questions++;
            all.remove(path);
        }

        @Override
        public void put(String path, byte[] value) {
            questions++;
            all.put(path, value);
        }

        @Override
        public Optional<byte[]> get(String path) {
            questions++;
            Optional<byte[]> found = Optional.ofNullable(all.get(path));
            entries += found.isPresent() ? 1 : 0;
            return found;
        }

        @Override
        public List<String> children(String folder) {
            questions++;
            List<String> names = below(folder).keySet().stream()
                    .map(path -> path.substring(folder.length() + 1).split("/", 2)[0])
                    .distinct()
                    .toList();
            entries += names.size();
            return names;
        }

        @Override
        public Following follow(String folder, Follower follower) {
            questions++;
            SortedMap<String, byte[]> now = new TreeMap<>();
            below(folder).forEach((path, value) -> now.put(path.substring(folder.length() + 1), value));
            entries += now.size();
            follower.changed(now);
            return new Following() {
                @Override
                public boolean isCurrent() {
                    return true;
                }

                @Override
                public void close() {}
            };
        }

        @Override
        public boolean isLeaseHeld() {
            return true;
        }

        @Override
        public void onLease(LeaseListener listener) {}

        @Override
        public void close() {
            all.clear();
        }
    }
}
