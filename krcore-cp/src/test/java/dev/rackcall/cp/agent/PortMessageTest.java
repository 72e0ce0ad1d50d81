package dev.rackcall.cp.agent;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.rackcall.cp.HostId;
import dev.rackcall.cp.table.HostRecord;
import dev.rackcall.cp.table.NamedRegion;
import dev.rackcall.cp.table.RegionRecord;
import dev.rackcall.cp.table.TableLocation;
import dev.rackcall.verbs.Gid;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;
import org.junit.jupiter.api.Test;

class PortMessageTest {
    private static final long REGIONS = 100;
    private static final NamedRegion FIRST = new NamedRegion(-5, new RegionRecord(1L << 40, 1L << 33, 7));
    private static final NamedRegion SECOND = new NamedRegion(0, new RegionRecord(-1, 0, 1));

    private final MemorySegment memory = Arena.ofAuto().allocate(2L * MessageSlots.SLOT_BYTES, 8);

    private static PortMessage message(int kind, List<NamedRegion> regions, MemorySegment payload) {
        HostRecord record = new HostRecord(new Gid(1, 2), 3, 4, 5, new TableLocation(6, 7, 8, 9));
        int length = kind == PortMessage.SMALL ? (int) payload.byteSize() : 5000;
        return new PortMessage(kind, 11, 12, 13, HostId.named("a"), record, 14, length, 15, 16, regions, payload);
    }

    @Test
    void shouldCarryRegionsAndAFullPayloadInOneSlot() {
        MemorySegment payload = MemorySegment.ofArray(new byte[PortMessage.MAX_PAYLOAD]);
        payload.fill((byte) 0x5A);
        for (List<NamedRegion> regions : List.of(List.<NamedRegion>of(), List.of(FIRST), List.of(FIRST, SECOND))) {
            int bytes = message(PortMessage.SMALL, regions, payload).write(memory, 0);
            assertThat(bytes).isLessThanOrEqualTo(MessageSlots.SLOT_BYTES);
            PortMessage read = PortMessage.read(memory, 0, bytes);
            assertThat(read.regions()).isEqualTo(regions);
            assertThat(read.payload().mismatch(payload)).isEqualTo(-1);
        }
    }

    @Test
    void shouldCarryRegionsWithoutAPayload() {
        MemorySegment nothing = MemorySegment.ofArray(new byte[0]);
        int bytes = message(PortMessage.LARGE, List.of(FIRST, SECOND), nothing).write(memory, 0);
        PortMessage read = PortMessage.read(memory, 0, bytes);
        assertThat(read.regions()).containsExactly(FIRST, SECOND);
        assertThat(read.length()).isEqualTo(5000);
    }

    @Test
    void shouldRefuseNumbersOfRegionsThatDoNotFit() {
        MemorySegment payload = MemorySegment.ofArray(new byte[64]);
        for (int count : new int[] {-1, 1, 3, Integer.MAX_VALUE, Integer.MIN_VALUE, 0x0AAAAAAB}) {
            int bytes = message(PortMessage.SMALL, List.of(), payload).write(memory, 0);
            memory.set(ValueLayout.JAVA_INT, REGIONS, count);
            assertThatThrownBy(() -> PortMessage.read(memory, 0, bytes)).isInstanceOf(IllegalArgumentException.class);
        }
    }
}
