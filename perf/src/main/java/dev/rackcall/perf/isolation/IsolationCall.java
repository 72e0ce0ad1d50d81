package dev.rackcall.perf.isolation;

import dev.rackcall.perf.harness.ClientSide;
import dev.rackcall.perf.harness.ServerSide;
import dev.rackcall.perf.harness.Sides;
import dev.rackcall.perf.harness.Subject;
import dev.rackcall.perf.harness.WrongReplyException;
import dev.rackcall.perf.result.BenchTarget;
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
import java.util.Set;

/**
 * A call that passes a scope of this many pages in one of the isolation modes.
 *
 * @param name the subject
 * @param pages of the scope
 * @param use what the two sides do with it
 * @param kind what the connection is made of
 */
public record IsolationCall(String name, Isolation isolation, int pages, Use use, Kind kind) implements Sides {
    static final int PAGE = 4096;
    /** Room in the scope's pages for its own header, the head and the array's header. */
    private static final int OVERHEAD = 160;
    /**
     * The heap is small, since no call allocates and there are many JVMs to start. Where three processes share two
     * processors, a server reports handlers that get no processor in time; the log leaves that out.
     */
    static final List<String> FLAGS =
            List.of("-Xms128m", "-Xmx128m", "-Dorg.slf4j.simpleLogger.log.dev.rackcall.rpc.shm.Relief=error");

    /** What the two sides do with the argument. */
    enum Use {
        /** The caller passes it unchanged, the handler reads its head. */
        TOUCH(""),
        /** The caller passes it unchanged, the handler reads all of it. */
        READ("read-"),
        /** The caller writes a word of it before each call, the handler reads its head. */
        WRITE("write-");

        private final String infix;

        Use(String infix) {
            this.infix = infix;
        }
    }

    /** What the connection is made of. */
    enum Kind {
        PLAIN,
        /** Huge pages, if the host has reserved them. */
        HUGE_PAGES,
        /** A third process holds the seals; it restricts the client for as long as the client lives. */
        HELD_SEALS
    }

    static Subject subject(Isolation isolation, int pages, Use use, Kind kind) {
        String huge = kind == Kind.HUGE_PAGES ? "huge-" : "";
        String name = kind == Kind.HELD_SEALS
                ? "enforced-" + use.infix + pages
                : word(isolation) + "-" + huge + use.infix + pages;
        IsolationCall sides = new IsolationCall(name, isolation, pages, use, kind);
        Set<Subject.Trait> traits = kind == Kind.HELD_SEALS
                // A process that maps the memory twice could write sealed memory.
                ? Set.of(Subject.Trait.SPINS, Subject.Trait.NEVER_ONE_PROCESS)
                : Set.of(Subject.Trait.SPINS);
        return Subject.of(name, pages * PAGE, sides.settings(), sides, traits.toArray(Subject.Trait[]::new))
                .in(BenchTarget.ISOLATION, huge + use.infix + pages, "trusted-" + huge + use.infix + pages)
                .withFlags(FLAGS)
                .unless(
                        kind == Kind.HUGE_PAGES
                                ? BenchHost::missingHugePages
                                : kind == Kind.HELD_SEALS ? BenchHost::missingHeldSeals : Optional::empty);
    }

    private static String word(Isolation isolation) {
        return isolation.name().toLowerCase(Locale.ROOT);
    }

    private String settings() {
        return "a scope of " + pages + " pages " + (kind == Kind.HUGE_PAGES ? "on huge pages, " : "") + "by pointer, "
                + isolation
                + (kind == Kind.HELD_SEALS ? ", the seals held by a process without a processor of its own" : "")
                + "; the "
                + switch (use) {
                    case TOUCH -> "handler reads its head";
                    case READ -> "handler reads all of it";
                    case WRITE -> "caller writes a word of it before each call, the handler reads its head";
                }
                + ", synchronous typed stub, handlers on the polling thread, default (adaptive) waiting on both sides";
    }

    /** Where the server's sockets lie. */
    static Path runtime(Path directory) {
        return directory.resolve("rackcall");
    }

    @Override
    public ServerSide serve(Path directory) throws IOException {
        SandboxPolicy policy = SandboxPolicy.STRICT;
        RpcServer.Builder builder = RpcServer.builder()
                .service(BenchVault.class, new BenchVault.Handlers())
                .runtimeFolder(runtime(directory));
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
    public ClientSide connect(Path directory) {
        RpcChannel.Builder builder = RpcChannel.builder(BenchVault.CHANNEL).runtimeFolder(runtime(directory));
        if (kind == Kind.HELD_SEALS) {
            builder.enforcedSeals(HolderProcess.socket(directory), Wish.REQUIRE);
        }
        RpcChannel channel = builder.open();
        BenchVault vault = channel.stub(BenchVault.class, CallOptions.DEFAULT.withIsolation(isolation));
        Scope scope = channel.newScope((long) pages * PAGE - OVERHEAD);
        BenchPages root = fill(scope);
        return ClientSide.of(
                sequence -> {
                    long found = 0;
                    if (use == Use.WRITE) {
                        root.sequence(sequence);
                        found = sequence;
                    }
                    long reply = (use == Use.READ ? vault.read(root, sequence) : vault.touch(root, sequence)) - found;
                    WrongReplyException.check(name, sequence, reply);
                },
                () -> {
                    scope.close();
                    channel.close();
                });
    }

    private BenchPages fill(Scope scope) {
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
        return root;
    }
}
