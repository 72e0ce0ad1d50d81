package dev.rackcall.samples.tour;

import dev.rackcall.rpc.Dispatch;
import dev.rackcall.rpc.Rpc;
import dev.rackcall.rpc.RpcChannel;
import dev.rackcall.rpc.RpcServer;
import dev.rackcall.rpc.RpcService;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;

/** Asynchronous calls: many requests in flight from one thread, a handler that answers later, a timeout that cancels the call. */
@RpcService("/samples/async")
public interface Async {
    @Rpc
    CompletableFuture<Integer> square(int number);

    @Rpc
    CompletableFuture<String> answerLate();

    /** The handlers. Each request has its own virtual thread, so a handler may block. */
    final class Squares implements Async {
        @Override
        public CompletableFuture<Integer> square(int number) {
            return CompletableFuture.completedFuture(number * number);
        }

        @Override
        public CompletableFuture<String> answerLate() {
            return CompletableFuture.supplyAsync(() -> "late", CompletableFuture.delayedExecutor(60, TimeUnit.SECONDS));
        }
    }

    static void main(String[] args) throws IOException {
        Path folder = Files.createTempDirectory("rackcall-sample-");
        try (RpcServer _ = RpcServer.builder()
                        .runtimeFolder(folder)
                        .dispatch(Dispatch.virtualThreads())
                        .service(Async.class, new Squares())
                        .start();
                RpcChannel channel = RpcChannel.builder("/samples/async")
                        .runtimeFolder(folder)
                        .open()) {
            Async squares = channel.stub(Async.class);
            List<CompletableFuture<Integer>> answers =
                    IntStream.range(0, 30).mapToObj(squares::square).toList();
            System.out.println("the sum is "
                    + answers.stream().mapToInt(CompletableFuture::join).sum());
            System.out.println(squares.answerLate()
                    .orTimeout(100, TimeUnit.MILLISECONDS)
                    .exceptionally(e -> "not answered in time")
                    .join());
        }
    }
}
