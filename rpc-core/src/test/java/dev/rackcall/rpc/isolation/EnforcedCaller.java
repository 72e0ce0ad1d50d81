package dev.rackcall.rpc.isolation;

import dev.rackcall.rpc.CallOptions;
import dev.rackcall.rpc.RpcChannel;
import dev.rackcall.rpc.RpcException;
import dev.rackcall.rpc.isolation.Vault.Coin;
import dev.rackcall.shm.Ref;
import dev.rackcall.shm.Scope;
import dev.rackcall.shm.os.CallState;
import dev.rackcall.shm.os.Linkage;
import dev.rackcall.shm.pool.PoolOptions.Wish;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;

/**
 * A caller whose seals a holder keeps, and that turns hostile during a call. On the line {@code attack} it tries every
 * system call that could change its argument. It prints {@code NAME RESULT} for each, then {@code attacked}. Argument:
 * the holder's socket.
 */
public final class EnforcedCaller {
    private static final long PAGE = 4096;
    private static final long SECRET = 5;
    private static final int READ_WRITE = 3;
    private static final int MAP_SHARED = 1;
    private static final int MAP_SHARED_FIXED = 0x11;
    private static final int O_RDWR = 2;

    private EnforcedCaller() {}

    public static void main(String[] arguments) throws Exception {
        BufferedReader input = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        Path holder = Path.of(arguments[0]);
        try (RpcChannel channel = open(holder);
                RpcChannel another = open(holder);
                Scope scope = channel.newScope()) {
            Coin coin = scope.create(Coin.class);
            callOften(channel, scope, coin);
            callOften(another, another.newScope(), coin(another));
            coin.value(SECRET);
            CompletableFuture<List<Long>> values =
                    channel.stub(SealedVault.class).valueTwiceLater(coin);
            while ("attack".equals(input.readLine())) {
                attack(scope);
                System.out.println("attacked");
            }
            System.out.println(
                    "values " + values.handle(EnforcedCaller::describe).get());
            // With or without a holder, the scope is open again and the next call succeeds.
            coin.value(77);
            System.out.println("after "
                    + channel.stub(SealedVault.class, CallOptions.DEFAULT.withTimeout(Duration.ofSeconds(20)))
                            .value(coin));
            System.out.println("done");
        }
    }

    private static String describe(List<Long> values, Throwable failure) {
        return failure instanceof RpcException refused
                ? refused.status().code() + " " + refused.status().description()
                : String.valueOf(failure == null ? values : failure);
    }

    private static RpcChannel open(Path holder) {
        return RpcChannel.builder("/test/sealed")
                .enforcedSeals(holder, Wish.REQUIRE)
                .open();
    }

    private static Coin coin(RpcChannel channel) {
        return channel.newScope().create(Coin.class);
    }

    private static void callOften(RpcChannel channel, Scope scope, Coin coin) {
        SealedVault vault = channel.stub(SealedVault.class);
        for (long i = 0; i < 200; i++) {
            // Unchanged every third time, so that its seal is renewed.
            coin.value(i / 3);
            long seen = vault.value(coin);
            if (seen != i / 3 || vault.value(coin) != seen) {
                throw new AssertionError("call " + i + " saw " + seen);
            }
            scope.allocate(8);
        }
    }

    // ---- hostile

    private static void attack(Scope scope) throws IOException {
        MemorySegment memory = scope.arena().memory();
        long page = memory.address() + Ref.offset(scope.firstRun());
        int fd = descriptor();
        // For any start of the arena in the file, one of these offsets is the scope's page.
        long inFile = fileOffset(page);
        long bytes = Arena.global().allocateFrom("seventeen letters").address();
        long maps = call("open", string("/proc/self/maps"), 0);
        report("mprotect", call("mprotect", page, PAGE, READ_WRITE));
        report("munmap", call("munmap", page, PAGE));
        report("mremap", call("mremap", page, PAGE, 2 * PAGE, 1));
        report("remap", call("mmap", page, PAGE, READ_WRITE, MAP_SHARED_FIXED, fd, inFile));
        report("map", call("mmap", 0, PAGE, READ_WRITE, MAP_SHARED, fd, inFile));
        long again = call("open", string("/proc/self/fd/" + fd), O_RDWR);
        report("map_reopened", again < 0 ? again : call("mmap", 0, PAGE, READ_WRITE, MAP_SHARED, again, inFile));
        report("pwrite", call("pwrite", fd, bytes, 8, inFile));
        long self = call("open", string("/proc/self/mem"), O_RDWR);
        report("proc_self_mem", self < 0 ? self : call("pwrite", self, bytes, 8, page));
        report("read_into", call("read", maps, page, 8));
        report("hole", call("fallocate", fd, 3, inFile, PAGE));
        report("truncate", call("ftruncate", fd, 0));
        report("userfaultfd", call("syscall", 323, 1));
        report("io_uring", call("syscall", 425, 1, bytes));
        report("remove", call("madvise", page, PAGE, 9));
        report("dofork", call("madvise", page, PAGE, 11));
        System.out.println("store " + isRefused(memory, Ref.offset(scope.firstRun()) + PAGE - 64));
    }

    private static void report(String attack, long result) {
        System.out.println("attack " + attack + " " + result);
    }

    private static boolean isRefused(MemorySegment memory, long offset) {
        try {
            memory.set(ValueLayout.JAVA_LONG, offset, 1);
            dev.rackcall.sandbox.os.StoreBarrier.now();
            return false;
        } catch (InternalError e) {
            return true;
        }
    }

    /** The descriptor of the memory of the first channel's connection. */
    private static int descriptor() throws IOException {
        try (Stream<Path> all = Files.list(Path.of("/proc/self/fd"))) {
            return all.filter(EnforcedCaller::isConnection)
                    .mapToInt(path -> Integer.parseInt(path.getFileName().toString()))
                    .min()
                    .orElseThrow();
        }
    }

    private static boolean isConnection(Path descriptor) {
        try {
            return Files.readSymbolicLink(descriptor).toString().contains("rackcall/test/sealed");
        } catch (IOException e) {
            return false;
        }
    }

    private static long fileOffset(long address) {
        try (Stream<String> maps = Files.lines(Path.of("/proc/self/maps"))) {
            return maps.map(line -> line.split(" +"))
                    .filter(fields -> start(fields) <= address && address < start(fields) + length(fields))
                    .mapToLong(fields -> Long.parseLong(fields[2], 16) + address - start(fields))
                    .findFirst()
                    .orElseThrow();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static long start(String[] fields) {
        return Long.parseUnsignedLong(fields[0].split("-")[0], 16);
    }

    private static long length(String[] fields) {
        return Long.parseUnsignedLong(fields[0].split("-")[1], 16) - start(fields);
    }

    private static long string(String text) {
        return Arena.global().allocateFrom(text).address();
    }

    /** The result, or -errno if it is -1. */
    private static long call(String function, long... given) {
        long[] six = java.util.Arrays.copyOf(given, 6);
        CallState state = CallState.current();
        long result = Linkage.call(
                Linkage.libc(function), state.errnoSegment(), six[0], six[1], six[2], six[3], six[4], six[5]);
        return (int) result == -1 ? -state.errno() : result;
    }
}
