package dev.rackcall.perf;

import dev.rackcall.rpc.CallOptions;
import dev.rackcall.rpc.Isolation;
import dev.rackcall.rpc.RpcChannel;
import dev.rackcall.rpc.RpcServer;
import dev.rackcall.rpc.SandboxPolicy;
import dev.rackcall.shm.PoolOptions.Wish;
import dev.rackcall.shm.Scope;
import dev.rackcall.shm.SharedLongArray;
import java.nio.file.Path;
import java.util.Locale;

/** A call that passes a scope of so many pages in one of the isolation modes. */
final class IsolationSubject extends Subject {
    static final int PAGE = 4096;
    static final String CHANNEL = "/bench/vault";
    /** Room in the scope's pages for its own header, the head and the array's header. */
    private static final int OVERHEAD = 160;

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

    private final Isolation isolation;
    private final int pages;
    private final Use use;
    private final boolean huge;

    IsolationSubject(Isolation isolation, int pages, Use use) {
        this(isolation, pages, use, false);
    }

    private IsolationSubject(Isolation isolation, int pages, Use use, boolean huge) {
        super(name(isolation, pages, use, huge), pages * PAGE);
        this.isolation = isolation;
        this.pages = pages;
        this.use = use;
        this.huge = huge;
    }

    /** Over a connection whose memory consists of huge pages. */
    static IsolationSubject onHugePages(Isolation isolation, int pages, Use use) {
        return new IsolationSubject(isolation, pages, use, true);
    }

    static String name(Isolation isolation, int pages, Use use) {
        return name(isolation, pages, use, false);
    }

    private static String name(Isolation isolation, int pages, Use use, boolean huge) {
        return isolation.name().toLowerCase(Locale.ROOT) + (huge ? "-huge-" : "-") + use.infix + pages;
    }

    @Override
    Target target() {
        return Target.ISOLATION;
    }

    @Override
    String group() {
        return (huge ? "huge-" : "") + use.infix + pages;
    }

    @Override
    String floor() {
        return name(Isolation.TRUSTED, pages, use, huge);
    }

    @Override
    String settings() {
        return "a scope of " + pages + " pages " + (huge ? "on huge pages, " : "") + "by pointer, " + isolation
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

    /** Where the server's sockets lie. */
    static Path runtime(Path directory) {
        return directory.resolve("rackcall");
    }

    @Override
    ServerSide serve(Path directory) {
        RpcServer.Builder builder = RpcServer.builder()
                .service(BenchVault.class, new Handlers())
                .sandbox(SandboxPolicy.STRICT)
                .directory(runtime(directory));
        RpcServer server = (huge ? builder.hugePages(Wish.REQUIRE) : builder).start();
        return server::close;
    }

    @Override
    ClientSide connect(Path directory) {
        RpcChannel channel =
                RpcChannel.builder(CHANNEL).directory(runtime(directory)).open();
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
