package dev.rackcall.rpc.shm.client;

import static org.assertj.core.api.Assertions.assertThat;

import dev.rackcall.rpc.RpcChannel;
import dev.rackcall.rpc.Status;
import dev.rackcall.rpc.contract.Library;
import dev.rackcall.rpc.contract.Library.Page;
import dev.rackcall.rpc.contract.RpcFixture;
import dev.rackcall.rpc.shm.protocol.SlotLayout;
import dev.rackcall.rpc.spi.ServiceDefinition;
import dev.rackcall.shm.Ref;
import dev.rackcall.shm.Scope;
import dev.rackcall.shm.types.SharedObject;
import org.junit.jupiter.api.Test;

/** Arena numbers belong to a server: two servers use the same ones for different memory. */
class ForeignObjectTest extends RpcFixture {
    private RpcChannel open(String server) {
        return open(channel(Library.class)
                .runtimeFolder(directory.resolve(server))
                .slots(LyingServer.SLOTS)
                .arenaQuota(LyingServer.QUOTA));
    }

    @Test
    void shouldRefuseAnotherServersObjectsThoughTheirArenasHaveOurNumbers() throws Exception {
        ServiceDefinition<Library> definition = ServiceDefinition.of(Library.class);
        try (LyingServer first = new LyingServer(directory.resolve("first"), definition);
                LyingServer second = new LyingServer(directory.resolve("second"), definition)) {
            second.answer((ticket, slot, memory) ->
                    SlotLayout.publishResponse(memory, slot, SlotLayout.word(ticket, 0, 0, 0)));
            RpcChannel ours = open("first");
            RpcChannel theirs = open("second");
            Page page = ours.newScope().create(Page.class);
            try (Scope same = theirs.newScope()) {
                assertThat(Ref.arenaId(SharedObject.refOf(same.create(Page.class))))
                        .isEqualTo(Ref.arenaId(SharedObject.refOf(page)));
            }
            Library library = theirs.stub(Library.class);
            assertFails(Status.Code.INVALID_ARGUMENT, () -> library.sum(page))
                    .hasMessageContaining("is not of this channel's connection");

            assertThat(first.failure()).isEmpty();
            assertThat(second.failure()).isEmpty();
        }
    }
}
