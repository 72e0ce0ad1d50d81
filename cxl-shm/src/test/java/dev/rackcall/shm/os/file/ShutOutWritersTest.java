package dev.rackcall.shm.os.file;

import static dev.rackcall.testkit.Thrown.assertThrown;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.rackcall.shm.os.OsException;
import org.junit.jupiter.api.Test;

class ShutOutWritersTest {
    @Test
    void shouldLeaveOnlyTheWritersThatAreInside() {
        try (SharedFile file = SharedFile.memfdForSomeWriters("test", 8192);
                Mapping writer = file.map()) {
            file.reserve(0, 8192);
            assertThat(file.areWritersShutOut()).isFalse();

            file.shutOutWriters();
            file.shutOutWriters();

            assertThat(file.areWritersShutOut()).isTrue();
            assertThat(file.isSealed()).isTrue();
            assertThatThrownBy(file::map).isInstanceOf(OsException.class).hasMessageContaining("EPERM");
            try (Mapping reader = file.mapReadOnly()) {
                writer.memory().set(JAVA_LONG, 0, 7);
                assertThat(reader.memory().get(JAVA_LONG, 0)).isEqualTo(7);
                assertThrown(
                        IllegalArgumentException.class, () -> reader.memory().set(JAVA_LONG, 0, 8));
            }
        }
    }

    @Test
    void shouldNotShutOutWritersOfOrdinaryMemory() {
        try (SharedFile file = SharedFile.memfd("test", 8192)) {
            assertThat(file.areWritersShutOut()).isFalse();
            assertThatThrownBy(file::shutOutWriters).isInstanceOf(OsException.class);
        }
    }
}
