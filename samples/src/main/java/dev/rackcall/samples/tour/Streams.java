package dev.rackcall.samples.tour;

import dev.rackcall.rpc.Rpc;
import dev.rackcall.rpc.RpcChannel;
import dev.rackcall.rpc.RpcServer;
import dev.rackcall.rpc.RpcService;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.LongStream;
import java.util.stream.Stream;

/** A server stream: the client pulls elements, so a slow client slows the server down, and closing the stream ends it at the server. */
@RpcService("/samples/streams")
public interface Streams {
    @Rpc
    Stream<Long> primes();

    /** The handler: an endless stream, of which only the pulled elements are computed. */
    static Stream<Long> allPrimes() {
        return LongStream.iterate(2, number -> number + 1)
                .filter(Streams::isPrime)
                .boxed()
                .onClose(() -> System.out.println("the server's stream was closed"));
    }

    private static boolean isPrime(long number) {
        return LongStream.rangeClosed(2, (long) Math.sqrt((double) number)).allMatch(factor -> number % factor != 0);
    }

    static void main(String[] args) throws IOException {
        Path folder = Files.createTempDirectory("rackcall-sample-");
        try (RpcServer _ = RpcServer.builder()
                        .runtimeFolder(folder)
                        .service(Streams.class, Streams::allPrimes)
                        .start();
                RpcChannel channel = RpcChannel.builder("/samples/streams")
                        .runtimeFolder(folder)
                        .open()) {
            try (Stream<Long> primes = channel.stub(Streams.class).primes()) {
                System.out.println("primes " + primes.limit(10).toList());
            }
        }
    }
}
