package dev.rackcall.cp;

import static org.assertj.core.api.Assertions.assertThat;

import dev.rackcall.verbs.Gid;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import org.junit.jupiter.api.Test;

class MetadataCacheTest {
    private final MetadataCache cache = new MetadataCache();

    static HostRecord record(int seed) {
        Random random = new Random(seed);
        TableLocation table = new TableLocation(random.nextLong(), random.nextInt(), 1 + random.nextInt(24), seed);
        return new HostRecord(
                new Gid(random.nextLong(), random.nextLong()),
                random.nextInt(1 << 24),
                random.nextInt(),
                random.nextInt(1 << 24),
                table);
    }

    @Test
    void shouldTake64BytesAHostAtMostHoweverManyTheyAre() {
        for (int hosts = 1; hosts <= 10_000; hosts++) {
            cache.put(new HostId(hosts), record(hosts));
            requireSmall(hosts);
        }
        assertThat(cache.find(new HostId(7_777))).contains(record(7_777));
        for (int hosts = 9_999; hosts >= 1; hosts--) {
            cache.remove(new HostId(hosts + 1L), record(hosts + 1).epoch());
            requireSmall(hosts);
        }
        assertThat(cache.find(new HostId(1))).contains(record(1));
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
                HostRecord record = record(random.nextInt(1_000_000));
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
        cache.put(host, record(2));
        cache.remove(host, record(1).epoch());
        assertThat(cache.find(host)).contains(record(2));
    }
}
