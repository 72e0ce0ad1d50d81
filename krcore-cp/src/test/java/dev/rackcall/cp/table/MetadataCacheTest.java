package dev.rackcall.cp.table;

import static org.assertj.core.api.Assertions.assertThat;

import dev.rackcall.cp.HostId;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import org.junit.jupiter.api.Test;

class MetadataCacheTest {
    private final MetadataCache cache = new MetadataCache();

    @Test
    void shouldTake64BytesAHostAtMostHoweverManyTheyAre() {
        for (int hosts = 1; hosts <= 10_000; hosts++) {
            cache.put(new HostId(hosts), HostRecords.record(hosts));
            requireSmall(hosts);
        }
        assertThat(cache.find(new HostId(7_777))).contains(HostRecords.record(7_777));
        for (int hosts = 9_999; hosts >= 1; hosts--) {
            cache.remove(new HostId(hosts + 1L), HostRecords.record(hosts + 1).epoch());
            requireSmall(hosts);
        }
        assertThat(cache.find(new HostId(1))).contains(HostRecords.record(1));
    }

    private void requireSmall(int hosts) {
        assertThat(cache.count()).isEqualTo(hosts);
        assertThat((double) cache.byteSize() / hosts)
                .as("bytes a host, of %d", hosts)
                .isLessThanOrEqualTo(64);
    }

    @Test
    void shouldBehaveLikeAMap() {
        long seed = 20261121;
        Random random = new Random(seed);
        Map<HostId, HostRecord> model = new HashMap<>();
        for (int i = 0; i < 50_000; i++) {
            HostId host = new HostId(1 + random.nextInt(700));
            if (random.nextInt(3) > 0) {
                HostRecord record = HostRecords.record(random.nextInt(1_000_000));
                cache.put(host, record);
                model.put(host, record);
            } else {
                int epoch = model.containsKey(host) ? model.remove(host).epoch() : 5;
                cache.remove(host, epoch);
            }
            assertThat(cache.find(host))
                    .as("seed %d, step %d", seed, i)
                    .isEqualTo(Optional.ofNullable(model.get(host)));
        }
        assertThat(cache.count()).isEqualTo(model.size());
        model.forEach((host, record) -> assertThat(cache.find(host)).contains(record));
    }

    @Test
    void shouldNotForgetANewerLife() {
        HostId host = new HostId(1);
        cache.put(host, HostRecords.record(2));
        cache.remove(host, HostRecords.record(1).epoch());
        assertThat(cache.find(host)).contains(HostRecords.record(2));
    }
}
