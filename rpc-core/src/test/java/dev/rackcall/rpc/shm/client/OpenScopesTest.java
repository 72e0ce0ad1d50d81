package dev.rackcall.rpc.shm.client;

import static org.assertj.core.api.Assertions.assertThat;

import dev.rackcall.rpc.RpcChannel;
import dev.rackcall.rpc.contract.Library;
import dev.rackcall.rpc.contract.LibraryService;
import dev.rackcall.rpc.contract.RpcFixture;
import dev.rackcall.shm.Scope;
import dev.rackcall.shm.ScopeEnd;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A scope counts as open until it is closed, also while it is being reset. */
class OpenScopesTest extends RpcFixture {
    private final OpenScopes scopes = new OpenScopes();
    private RpcChannel channel;

    @BeforeEach
    void start() {
        serve(Library.class, new LibraryService());
        channel = open(Library.class);
    }

    @Test
    void shouldCountScopesUntilTheLastIsClosed() {
        Scope first = scopes.counted(channel.newScope());
        Scope second = scopes.counted(channel.newScope());
        first.close();
        first.close();
        assertThat(scopes.areAny()).isTrue();
        second.close();
        assertThat(scopes.areAny()).isFalse();
    }

    @Test
    void shouldCountAScopeThroughoutAReset() {
        List<Boolean> during = new ArrayList<>();
        Scope scope = scopes.counted(channel.newScope());
        scope.onEnd(new ScopeEnd() {
            @Override
            public boolean ends(long firstRun) {
                return scopes.ends(firstRun);
            }

            @Override
            public boolean resets(long firstRun) {
                boolean may = scopes.resets(firstRun);
                during.add(scopes.areAny());
                return may;
            }

            @Override
            public void begins(long firstRun) {
                during.add(scopes.areAny());
                scopes.begins(firstRun);
                during.add(scopes.areAny());
            }
        });
        scope.reset();
        assertThat(during).containsExactly(true, true, true);
        scope.close();
        assertThat(scopes.areAny()).isFalse();
    }
}
