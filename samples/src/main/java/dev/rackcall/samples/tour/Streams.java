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

/** Streams from the server, from the client, and both ways: a slow reader slows the sender down, and closing a stream ends it on both sides. */
@RpcService("/samples/streams")
public interface Streams {
    @Rpc
    Stream<Long> primes();

    @Rpc
    long sum(Stream<Long> numbers);

    @Rpc
    Stream<Boolean> arePrime(Stream<Long> numbers);

    /** The handler. */
    final class Numbers implements Streams {
        /** An endless stream, of which only the elements that the client reads are computed. */
        @Override
        public Stream<Long> primes() {
            return LongStream.iterate(2, number -> number + 1)
                    .filter(Numbers::isPrime)
                    .boxed()
                    .onClose(() -> System.out.println("the server's stream was closed"));
        }

        @Override
        public long sum(Stream<Long> numbers) {
            return numbers.mapToLong(Long::longValue).sum();
        }

        @Override
        public Stream<Boolean> arePrime(Stream<Long> numbers) {
            return numbers.map(Numbers::isPrime);
        }

        private static boolean isPrime(long number) {
            return LongStream.rangeClosed(2, (long) Math.sqrt((double) number))
                    .allMatch(factor -> number % factor != 0);
        }
    }

    static void main(String[] args) throws IOException {
        Path folder = Files.createTempDirectory("rackcall-sample-");
        try (RpcServer _ = RpcServer.builder()
                        .runtimeFolder(folder)
                        .service(Streams.class, new Numbers())
                        .start();
                RpcChannel channel = RpcChannel.builder("/samples/streams")
                        .runtimeFolder(folder)
                        .open()) {
            Streams streams = channel.stub(Streams.class);
            try (Stream<Long> primes = streams.primes()) {
                System.out.println("primes " + primes.limit(10).toList());
            }
            System.out.println("the sum is " + streams.sum(Stream.of(1L, 2L, 3L)));
            try (Stream<Boolean> answers = streams.arePrime(Stream.of(7L, 8L))) {
                System.out.println("primes? " + answers.toList());
            }
        }
    }
}
