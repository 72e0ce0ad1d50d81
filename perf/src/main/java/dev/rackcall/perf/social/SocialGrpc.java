package dev.rackcall.perf.social;

import dev.rackcall.perf.harness.ServerSide;
import dev.rackcall.perf.social.SocialApi.Compose;
import dev.rackcall.perf.social.SocialApi.ComposedText;
import dev.rackcall.perf.social.SocialApi.Creator;
import dev.rackcall.perf.social.SocialApi.Draft;
import dev.rackcall.perf.social.SocialApi.Entry;
import dev.rackcall.perf.social.SocialApi.Followers;
import dev.rackcall.perf.social.SocialApi.Ids;
import dev.rackcall.perf.social.SocialApi.Mentions;
import dev.rackcall.perf.social.SocialApi.Post;
import dev.rackcall.perf.social.SocialApi.Posts;
import dev.rackcall.perf.social.SocialApi.Range;
import dev.rackcall.perf.social.SocialApi.ShortUrl;
import dev.rackcall.perf.social.SocialApi.Texts;
import dev.rackcall.perf.social.SocialApi.Timelines;
import dev.rackcall.perf.social.SocialApi.Urls;
import dev.rackcall.perf.social.SocialApi.Users;
import io.grpc.Channel;
import io.grpc.ManagedChannel;
import io.grpc.Server;
import io.grpc.ServerServiceDefinition;
import io.grpc.netty.shaded.io.grpc.netty.NettyChannelBuilder;
import io.grpc.netty.shaded.io.grpc.netty.NettyServerBuilder;
import io.grpc.netty.shaded.io.netty.channel.EventLoopGroup;
import io.grpc.netty.shaded.io.netty.channel.MultiThreadIoEventLoopGroup;
import io.grpc.netty.shaded.io.netty.channel.epoll.EpollDomainSocketChannel;
import io.grpc.netty.shaded.io.netty.channel.epoll.EpollIoHandler;
import io.grpc.netty.shaded.io.netty.channel.epoll.EpollServerDomainSocketChannel;
import io.grpc.netty.shaded.io.netty.channel.unix.DomainSocketAddress;
import io.grpc.netty.shaded.io.netty.util.concurrent.DefaultThreadFactory;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/** The services behind grpc-java, each on a Unix socket, and stubs that call them. */
final class SocialGrpc {
    static final String SETTINGS = "grpc-java 1.83, Unix socket, direct executors, asynchronous handlers and stubs, one"
            + " epoll event loop a process for server and channels, messages in protobuf's encoding without message"
            + " objects";

    private static final GrpcMethod<Draft, Long> COMPOSE =
            GrpcMethod.of("Compose", SocialCodec.DRAFT, SocialCodec.LONG);
    private static final GrpcMethod<String, ComposedText> COMPOSE_TEXT =
            GrpcMethod.of("ComposeText", SocialCodec.STRING, SocialCodec.TEXT);
    private static final GrpcMethod<List<String>, List<Creator>> MENTIONED =
            GrpcMethod.of("Mentioned", SocialCodec.STRING.list(), SocialCodec.CREATORS);
    private static final GrpcMethod<List<String>, List<ShortUrl>> SHORTEN =
            GrpcMethod.of("Shorten", SocialCodec.STRING.list(), SocialCodec.URLS);
    private static final GrpcMethod<Long, Long> NEXT = GrpcMethod.of("Next", SocialCodec.LONG, SocialCodec.LONG);
    private static final GrpcMethod<String, Creator> CREATOR =
            GrpcMethod.of("Creator", SocialCodec.STRING, SocialCodec.CREATOR);
    private static final GrpcMethod<Long, List<Long>> FOLLOWERS =
            GrpcMethod.of("Followers", SocialCodec.LONG, SocialCodec.LONGS);
    private static final GrpcMethod<Post, Long> STORE = GrpcMethod.of("Store", SocialCodec.POST, SocialCodec.LONG);
    private static final GrpcMethod<List<Long>, List<Post>> READ =
            GrpcMethod.of("Read", SocialCodec.LONGS, SocialCodec.POST.list());
    private static final GrpcMethod<Entry, Integer> ADD = GrpcMethod.of("Add", SocialCodec.ENTRY, SocialCodec.INT);
    private static final GrpcMethod<Range, List<Post>> READ_TIMELINE =
            GrpcMethod.of("ReadTimeline", SocialCodec.RANGE, SocialCodec.POST.list());

    private SocialGrpc() {}

    /** One thread: with handlers and stubs on the same event loop, no call changes threads. */
    private static final class Loop {
        static final EventLoopGroup GROUP =
                new MultiThreadIoEventLoopGroup(1, new DefaultThreadFactory("grpc", true), EpollIoHandler.newFactory());
    }

    private static DomainSocketAddress address(Path directory, SocialRole role) {
        return new DomainSocketAddress(directory.resolve(role + ".sock").toFile());
    }

    static ServerSide serve(Path directory, SocialRole role) throws IOException {
        SocialTransport.Connections connections = connect(directory);
        Server server = NettyServerBuilder.forAddress(address(directory, role))
                .channelType(EpollServerDomainSocketChannel.class)
                .bossEventLoopGroup(Loop.GROUP)
                .workerEventLoopGroup(Loop.GROUP)
                .directExecutor()
                .addService(definition(role.service(connections)))
                .build()
                .start();
        return () -> {
            server.shutdownNow();
            connections.close();
        };
    }

    private static ServerServiceDefinition definition(Object service) {
        return switch (service) {
            case SocialServices.UserStore users -> define(MENTIONED.to(users::mentioned), CREATOR.to(users::creator));
            case Compose compose -> define(COMPOSE.to(compose::compose));
            case Texts texts -> define(COMPOSE_TEXT.to(texts::composeText));
            case Urls urls -> define(SHORTEN.to(urls::shorten));
            case Ids ids -> define(NEXT.to(_ -> ids.next()));
            case Followers graph -> define(FOLLOWERS.to(graph::followers));
            case Posts posts -> define(STORE.to(posts::store), READ.to(posts::read));
            case Timelines timelines -> define(ADD.to(timelines::add), READ_TIMELINE.to(timelines::read));
            default -> throw new IllegalArgumentException(service.toString());
        };
    }

    private static ServerServiceDefinition define(GrpcMethod.Bound... methods) {
        ServerServiceDefinition.Builder definition = ServerServiceDefinition.builder(GrpcMethod.SERVICE);
        for (GrpcMethod.Bound method : methods) {
            method.addTo(definition);
        }
        return definition.build();
    }

    static SocialTransport.Connections connect(Path directory) {
        List<ManagedChannel> channels = new ArrayList<>();
        return new SocialTransport.Connections() {
            @Override
            public <T> T of(SocialRole role, Class<T> type) {
                ManagedChannel channel = NettyChannelBuilder.forAddress(address(directory, role))
                        .channelType(EpollDomainSocketChannel.class, DomainSocketAddress.class)
                        .eventLoopGroup(Loop.GROUP)
                        .usePlaintext()
                        .directExecutor()
                        .build();
                channels.add(channel);
                return type.cast(stub(role, channel));
            }

            @Override
            public void close() {
                channels.forEach(ManagedChannel::shutdownNow);
            }
        };
    }

    private static Object stub(SocialRole role, Channel channel) {
        return switch (role) {
            case URL -> (Urls) urls -> SHORTEN.call(channel, urls);
            case MENTION -> (Mentions) names -> MENTIONED.call(channel, names);
            case TEXT -> (Texts) text -> COMPOSE_TEXT.call(channel, text);
            case USER -> (Users) name -> CREATOR.call(channel, name);
            case ID -> (Ids) () -> NEXT.call(channel, 0L);
            case GRAPH -> (Followers) user -> FOLLOWERS.call(channel, user);
            case COMPOSE -> (Compose) draft -> COMPOSE.call(channel, draft);
            case POSTS -> new PostsStub(channel);
            case OWN_TIMELINE, HOME_TIMELINE -> new TimelinesStub(channel);
        };
    }

    private record PostsStub(Channel channel) implements Posts {
        @Override
        public CompletableFuture<Long> store(Post post) {
            return STORE.call(channel, post);
        }

        @Override
        public CompletableFuture<List<Post>> read(List<Long> posts) {
            return READ.call(channel, posts);
        }
    }

    private record TimelinesStub(Channel channel) implements Timelines {
        @Override
        public CompletableFuture<Integer> add(Entry entry) {
            return ADD.call(channel, entry);
        }

        @Override
        public CompletableFuture<List<Post>> read(Range range) {
            return READ_TIMELINE.call(channel, range);
        }
    }
}
