package dev.rackcall.rpc.shm.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.rackcall.rpc.Status;
import dev.rackcall.rpc.contract.Echo;
import dev.rackcall.rpc.shm.protocol.ControlLayout;
import dev.rackcall.rpc.shm.protocol.Handshake;
import dev.rackcall.rpc.spi.ServedInterface;
import dev.rackcall.rpc.spi.ServiceDefinition;
import dev.rackcall.rpc.spi.TestSpecs;
import dev.rackcall.shm.os.file.Mapping;
import dev.rackcall.shm.os.file.SharedFile;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class ClientMemoryTest {
    private static final int SLOTS = 4;
    private static final long QUOTA = 1 << 20;

    /** A note of a pool's window names a descriptor, and the action at the end closes the note. */
    @Test
    void shouldCloseItsFilesAfterTheActionAtItsEnd() throws Exception {
        long requestAt = ControlLayout.controlBytes(SLOTS);
        SharedFile file = SharedFile.memfd("rackcall-test", requestAt + 2 * QUOTA);
        SharedFile shared = SharedFile.memfd("rackcall-test-shared", QUOTA);
        Handshake.ServerHello hello = new Handshake.ServerHello(
                Status.OK,
                42,
                SLOTS,
                2,
                new Handshake.Arenas(
                        new Handshake.ArenaPlace(11, requestAt, QUOTA),
                        new Handshake.ArenaPlace(12, requestAt + QUOTA, QUOTA),
                        new Handshake.ArenaPlace(13, 0, QUOTA)),
                ServedInterface.of(ServiceDefinition.of(Echo.class)));
        try (Mapping mapping = file.map()) {
            ControlLayout.initialise(mapping.memory(), SLOTS, hello.instance());
        }
        ClientMemory memory = ClientMemory.open(file, shared, hello, TestSpecs.client("/test/echo", Path.of("unused")));

        List<Integer> open = new ArrayList<>();
        memory.close(() -> open.addAll(List.of(file.fd(), shared.fd())));

        assertThat(open).hasSize(2);
        assertThatThrownBy(file::fd).hasMessageContaining("is closed");
        assertThatThrownBy(shared::fd).hasMessageContaining("is closed");
    }
}
