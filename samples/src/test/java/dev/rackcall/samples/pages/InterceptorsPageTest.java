package dev.rackcall.samples.pages;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.rackcall.rpc.CallOptions;
import dev.rackcall.rpc.Metadata;
import dev.rackcall.rpc.Rpc;
import dev.rackcall.rpc.RpcChannel;
import dev.rackcall.rpc.RpcContext;
import dev.rackcall.rpc.RpcServer;
import dev.rackcall.rpc.RpcService;
import dev.rackcall.rpc.Status;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The page on interceptors and trailers. */
class InterceptorsPageTest {
    private static final ScopedValue<String> USER = ScopedValue.newInstance();

    @TempDir
    private Path folder;

    private final List<String> ended = new CopyOnWriteArrayList<>();
    private final List<String> versions = new CopyOnWriteArrayList<>();

    /** Its calls need a user. */
    @RpcService("/shop/account")
    public interface Account {
        @Rpc
        String owner();
    }

    private static final class AccountService implements Account {
        @Override
        public String owner() {
            RpcContext.current().orElseThrow().addTrailers(Metadata.of("account-version", "7"));
            return USER.get();
        }
    }

    private RpcServer serve() {
        return RpcServer.builder()
                .runtimeFolder(folder)
                .service(Account.class, new AccountService())
                .interceptor((call, next) -> {
                    String user = call.headers()
                            .text("user")
                            .orElseThrow(() -> Status.Code.UNAUTHENTICATED
                                    .with("the header 'user' is missing")
                                    .asException());
                    ScopedValue.where(USER, user).run(next);
                })
                .start();
    }

    private RpcChannel open() {
        return RpcChannel.builder("/shop/account")
                .runtimeFolder(folder)
                .interceptor((call, next) -> {
                    call.addHeaders(Metadata.of("user", "ada"));
                    call.onEnd((status, trailers) -> ended.add(call.method().fullName() + " " + status.code()));
                    next.run();
                })
                .open();
    }

    @Test
    void shouldRunAroundEveryCall() {
        try (RpcServer _ = serve();
                RpcChannel channel = open();
                RpcChannel nameless = RpcChannel.builder("/shop/account")
                        .runtimeFolder(folder)
                        .open()) {
            Account account = channel.stub(
                    Account.class,
                    CallOptions.DEFAULT.withObserver((status, trailers) ->
                            trailers.text("account-version").ifPresent(versions::add)));
            assertThat(account.owner()).isEqualTo("ada");
            assertThat(versions).containsExactly("7");
            assertThat(ended).containsExactly("/shop/account/owner OK");
            assertThatThrownBy(nameless.stub(Account.class)::owner).hasMessageContaining("UNAUTHENTICATED");
        }
    }
}
