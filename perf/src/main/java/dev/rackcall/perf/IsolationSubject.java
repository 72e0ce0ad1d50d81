package dev.rackcall.perf;

import dev.rackcall.rpc.CallOptions;
import dev.rackcall.rpc.Isolation;
import dev.rackcall.rpc.RpcChannel;
import dev.rackcall.rpc.RpcServer;
import dev.rackcall.rpc.SandboxPolicy;
import dev.rackcall.shm.Scope;
import dev.rackcall.shm.pool.PoolOptions.Wish;
import dev.rackcall.shm.types.SharedLongArray;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/** A call that passes a scope of so many pages in one of the isolation modes. */
final class IsolationSubject extends Subject {
    static final int PAGE = 4096;
    static final String CHANNEL = "/bench/vault";
    /** Room in the scope's pages for its own header, the head and the array's header. */
    private static final int OVERHEAD = 160;

    /**
     * No call allocates, and there are many to be started: a heap that is touched in a moment. And where three processes share two processors, a server rightly finds that a
     * handler does not return, as it gets no processor; that is news to its log and to nobody who reads a table.
     */
    private static final List<String> FLAGS =
            List.of("-Xms128m", "-Xmx128m", "-Dorg.slf4j.simpleLogger.log.dev.rackcall.rpc.shm.server.Relief=error");

    /** What the two sides do with the argument. */
    enum Use {
        /** The caller passes it as it is, the handler looks at its head. */
        TOUCH(""),
        /** As before, but the handler reads all of it. */
        READ("read-"),
        /** As the first, but the caller writes a word of it before each call. */
        WRITE("write-");

        private final String infix;

        Use(String infix) {
            this.infix = infix;
        }
    }

    /** What the connection is made of. */
    private enum Kind {
        PLAIN,
        /** {@link HugePages}. */
        HUGE_PAGES,
        /** A third process holds the seals. */
        HELD_SEALS
    }

    private final Isolation isolation;
    private final int pages;
    private final Use use;
    private final Kind kind;

    IsolationSubject(Isolation isolation, int pages, Use use) {
        this(name(isolation, pages, use), isolation, pages, use, Kind.PLAIN);
    }

    private IsolationSubject(String name, Isolation isolation, int pages, Use use, Kind kind) {
        super(name, pages * PAGE);
        this.isolation = isolation;
        this.pages = pages;
        this.use = use;
        this.kind = kind;
    }

    /** Over a connection whose memory consists of huge pages. */
    static IsolationSubject onHugePages(Isolation isolation, int pages, Use use) {
        return new IsolationSubject(hugeName(isolation, pages, use), isolation, pages, use, Kind.HUGE_PAGES);
    }

    /** With seals that a process of its own holds for the client, which is restricted by that for as long as it lives. */
    static IsolationSubject enforced(int pages, Use use) {
        return new IsolationSubject("enforced-" + use.infix + pages, Isolation.SEALED, pages, use, Kind.HELD_SEALS);
    }

    static String name(Isolation isolation, int pages, Use use) {
        return word(isolation) + "-" + use.infix + pages;
    }

    private static String hugeName(Isolation isolation, int pages, Use use) {
        return word(isolation) + "-huge-" + use.infix + pages;
    }

    private static String word(Isolation isolation) {
        return isolation.name().toLowerCase(Locale.ROOT);
    }

    @Override
    Target target() {
        return Target.ISOLATION;
    }

    @Override
    String group() {
        return (kind == Kind.HUGE_PAGES ? "huge-" : "") + use.infix + pages;
    }

    @Override
    String floor() {
        return kind == Kind.HUGE_PAGES ? hugeName(Isolation.TRUSTED, pages, use) : name(Isolation.TRUSTED, pages, use);
    }

    @Override
    String settings() {
        return "a scope of " + pages + " pages " + (kind == Kind.HUGE_PAGES ? "on huge pages, " : "") + "by pointer, "
                + isolation
                + (kind == Kind.HELD_SEALS ? ", the seals held by a process without a processor of its own" : "")
                + "; the "
                + switch (use) {
                    case TOUCH -> "handler looks at its head";
                    case READ -> "handler reads all of it";
                    case WRITE -> "caller writes a word of it before each call, the handler looks at its head";
                }
                + ", synchronous typed stub, handlers on the polling thread, default (adaptive) waiting on both sides";
    }

    @Override
    boolean spins() {
        return true;
    }

    @Override
    List<String> jvmFlags() {
        return FLAGS;
    }

    @Override
    Optional<String> missing() {
        return switch (kind) {
            case PLAIN -> Optional.empty();
            case HUGE_PAGES -> HugePages.missing();
            case HELD_SEALS ->
                HolderProcess.isPossible()
                        ? Optional.empty()
                        : Optional.of("this host has no enforced seals, which need Linux 6.10 and userfaultfd");
        };
    }

    /** Where the server's sockets lie. */
    static Path runtime(Path directory) {
        return directory.resolve("rackcall");
    }

    /** The client cannot be where the server is: whoever maps the memory twice could write what is sealed. */
    @Override
    boolean callsWithinOneProcess() {
        return kind != Kind.HELD_SEALS;
    }

    @Override
    ServerSide serve(Path directory) throws IOException {
        SandboxPolicy policy = SandboxPolicy.STRICT;
        RpcServer.Builder builder =
                RpcServer.builder().service(BenchVault.class, new Handlers()).directory(runtime(directory));
        switch (kind) {
            case PLAIN -> builder.sandbox(policy);
            case HUGE_PAGES -> builder.sandbox(policy).hugePages(Wish.REQUIRE);
            case HELD_SEALS -> builder.sandbox(policy.withEnforcedSeals(HolderProcess.socket(directory), Wish.REQUIRE));
        }
        if (kind != Kind.HELD_SEALS) {
            return builder.start()::close;
        }
        HolderProcess holder = HolderProcess.start(directory);
        try {
            RpcServer server = builder.start();
            return () -> {
                server.close();
                holder.close();
            };
        } catch (RuntimeException e) {
            holder.close();
            throw e;
        }
    }

    @Override
    ClientSide connect(Path directory) {
        RpcChannel.Builder builder = RpcChannel.builder(CHANNEL).directory(runtime(directory));
        if (kind == Kind.HELD_SEALS) {
            builder.enforcedSeals(HolderProcess.socket(directory), Wish.REQUIRE);
        }
        RpcChannel channel = builder.open();
        BenchVault vault = channel.stub(BenchVault.class, CallOptions.DEFAULT.withIsolation(isolation));
        return new Client(name(), channel, vault, fill(channel, pages), use);
    }

    private static Argument fill(RpcChannel channel, int pages) {
        Scope scope = channel.newScope((long) pages * PAGE - OVERHEAD);
        BenchPages root = scope.create(BenchPages.class);
        SharedLongArray words = SharedLongArray.create(scope, (pages * PAGE - OVERHEAD - OVERHEAD) / Long.BYTES);
        for (int i = 0; i < words.length(); i++) {
            words.set(i, i);
        }
        root.words(words);
        if (scope.bytesHeld() != (long) pages * PAGE) {
            throw new IllegalStateException(
                    "the argument takes " + scope.bytesHeld() + " bytes, not " + pages + " pages");
        }
        return new Argument(scope, root);
    }

    private record Argument(Scope scope, BenchPages root) {}

    private record Client(String name, RpcChannel channel, BenchVault vault, Argument argument, Use use)
            implements ClientSide {
        @Override
        public void call(long sequence) {
            BenchPages root = argument.root();
            long found = 0;
            if (use == Use.WRITE) {
                root.sequence(sequence);
                found = sequence;
            }
            long reply = (use == Use.READ ? vault.read(root, sequence) : vault.touch(root, sequence)) - found;
            if (reply != sequence) {
                throw new WrongReplyException(name, sequence, reply);
            }
        }

        @Override
        public void close() {
            argument.scope().close();
            channel.close();
        }
    }

    private static final class Handlers implements BenchVault {
        private long read;

        @Override
        public long touch(BenchPages pages, long sequence) {
            return pages.sequence() + sequence;
        }

        @Override
        public long read(BenchPages pages, long sequence) {
            long sum = sum(pages.words());
            read = sum;
            return pages.sequence() + sequence + (read - sum);
        }

        private static long sum(SharedLongArray words) {
            long sum = 0;
            for (int i = 0, n = words.length(); i < n; i++) {
                sum += words.get(i);
            }
            return sum;
        }
    }
}
