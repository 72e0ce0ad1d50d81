package dev.rackcall.rack;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class QemuCommandTest {
    private static final DaxFile DAX = new DaxFile(Path.of("/dev/shm/x.dax"), DaxFile.BYTES);
    private static final GuestSpec A = new GuestSpec("A", Optional.of(DAX));
    private static final GuestSpec C = new GuestSpec("C", Optional.empty());

    private final QemuCommand commands = new QemuCommand(
            Path.of("/q"), Path.of("/k"), Path.of("/i"), Path.of("/s"), Path.of("/j"), Path.of("/tmp/r"), 2596118, 99);

    /** Without a possible second processor QEMU's atomic operations are not atomic for the other guest. */
    @Test
    void shouldLetQemuExpectASecondProcessor() {
        assertThat(commands.guest(A))
                .containsSequence("-smp", "1,maxcpus=2")
                .containsSequence("-accel", "tcg,thread=multi");
    }

    @Test
    void shouldGiveSharedMemoryOnlyToGuestsThatShareIt() {
        assertThat(String.join(" ", commands.guest(A)))
                .contains(
                        "q35,nvdimm=on",
                        "share=on,align=2M,size=268435456,mem-path=/dev/shm/x.dax",
                        "nvdimm,memdev=shared")
                .contains("rackcall.dax=/dev/dax0.0");
        assertThat(String.join(" ", commands.guest(C)))
                .doesNotContain("nvdimm", "mem-path")
                .contains("rackcall.dax=none");
    }

    @Test
    void shouldGiveEachGuestItsOwnAddressCardAndCable() {
        String a = String.join(" ", commands.guest(A));
        String c = String.join(" ", commands.guest(C));
        assertThat(a).contains("rackcall.guest=A rackcall.address=10.77.0.1 ", "52:54:00:00:00:01", "/tmp/r/netA");
        assertThat(c).contains("rackcall.guest=C rackcall.address=10.77.0.3 ", "52:54:00:00:00:03", "/tmp/r/netC");
        assertThat(commands.hub(List.of(A, C)))
                .contains(
                        "stream,id=sA,server=on,addr.type=unix,addr.path=/tmp/r/netA",
                        "hubport,id=hC,hubid=0,netdev=sC");
    }

    @Test
    void shouldPassTheClockSpeedToGuests() {
        assertThat(String.join(" ", commands.guest(A))).contains(" tsc_early_khz=2596118 ");
    }

    @Test
    void shouldBoundTheLifeOfGuestsAndHub() {
        assertThat(String.join(" ", commands.guest(C))).contains("rackcall.seconds=99");
        assertThat(commands.hub(List.of(A)).subList(1, 3)).containsExactly("--signal=KILL", "129");
    }

    @Test
    void shouldLetGuestsWriteOnlyToTheSyncFolder() {
        assertThat(commands.guest(A).stream().filter(word -> word.startsWith("local,")))
                .hasSize(4)
                .allMatch(word -> word.endsWith("readonly=on") != word.contains("path=" + commands.sync()));
    }
}
