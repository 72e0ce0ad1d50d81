package dev.rackcall.rpc.hostile;

import dev.rackcall.rpc.Dispatch;
import dev.rackcall.rpc.RpcServer;
import dev.rackcall.rpc.Status;
import dev.rackcall.rpc.contract.Echo;
import dev.rackcall.rpc.contract.EchoService;
import dev.rackcall.rpc.generated.EverythingProbe;
import dev.rackcall.rpc.hostile.Catalogue.Node;
import dev.rackcall.shm.Scope;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/** The attacked server. Its services use every feature, and its handlers end for all arguments. */
public final class HostileTarget {
    /** The channels that it serves. */
    public static final List<String> CHANNELS = List.of("/test/echo", "/test/catalogue", EverythingProbe.CHANNEL);

    /** The quota of each of a client's arenas. */
    public static final long QUOTA = 4L << 20;

    private static final long SHARED_QUOTA = 8L << 20;

    private HostileTarget() {}

    /** Starts it. */
    public static RpcServer start(Path directory, Dispatch dispatch) {
        return EverythingProbe.addTo(RpcServer.builder()
                        .service(Echo.class, new HardyEcho())
                        .service(Catalogue.class, new CatalogueService()))
                .dispatch(dispatch)
                .runtimeFolder(directory)
                .arenaQuota(QUOTA)
                .sharedQuota(SHARED_QUOTA)
                .start();
    }

    /** A graph for {@link Catalogue}; every text in it begins with {@code mark}. */
    public static Node graph(Scope scope, String mark, int nodes) {
        return CatalogueService.build(scope, mark, nodes);
    }

    private static final class HardyEcho extends EchoService {
        private static final int LONGEST_MILLIS = 20;

        @Override
        public CompletableFuture<Integer> later(int value, int millis) {
            return super.later(value, Math.clamp(millis, 0, LONGEST_MILLIS));
        }

        @Override
        public Stream<Integer> count(int from, int to) {
            return IntStream.range(from, to).boxed();
        }

        @Override
        public boolean block(long millis) {
            return super.block(Math.clamp(millis, 0, LONGEST_MILLIS));
        }

        @Override
        public void crash(String message) {
            throw Status.Code.ABORTED.with("%s", message).asException();
        }

        @Override
        public void fail(String code, String description) {
            throw Status.Code.ABORTED.with("%s", description).asException();
        }
    }
}
