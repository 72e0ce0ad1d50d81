package dev.rackcall.perf.social;

import dev.rackcall.rpc.Rpc;
import dev.rackcall.rpc.RpcService;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/** The interfaces of the services and what their calls carry. Both transports use them. */
final class SocialApi {
    private SocialApi() {}

    /** A new post as its author writes it. */
    record Draft(String author, String text) {}

    /** A user. */
    record Creator(long id, String name) {}

    /** A web address in a post, and its short form. */
    record ShortUrl(String url, String shortened) {}

    /** A text whose addresses are shortened, and what it names. */
    record ComposedText(String text, List<Creator> mentions, List<ShortUrl> urls) {}

    /** A stored post. */
    record Post(long id, Creator creator, ComposedText text, long timestamp) {}

    /** A post for its author's timeline, and for the home timelines of followers and mentioned users. */
    record Entry(long post, long user, List<Long> mentioned) {}

    /** Posts of a user's timeline, newest first, from {@code start} to before {@code stop}. */
    record Range(long user, int start, int stop) {}

    /** Composes posts. */
    @RpcService("/social/compose")
    interface Compose {
        /** Returns the number of the new post when all timelines have it. */
        @Rpc
        CompletableFuture<Long> compose(Draft draft);
    }

    /** Finds mentions and addresses in texts. */
    @RpcService("/social/text")
    interface Texts {
        @Rpc
        CompletableFuture<ComposedText> composeText(String text);
    }

    /** Looks up mentioned users. */
    @RpcService("/social/mention")
    interface Mentions {
        @Rpc
        CompletableFuture<List<Creator>> mentioned(List<String> names);
    }

    /** Shortens addresses. */
    @RpcService("/social/url")
    interface Urls {
        @Rpc
        CompletableFuture<List<ShortUrl>> shorten(List<String> urls);
    }

    /** Gives out numbers of posts. */
    @RpcService("/social/id")
    interface Ids {
        @Rpc
        CompletableFuture<Long> next();
    }

    /** Knows the users. */
    @RpcService("/social/user")
    interface Users {
        @Rpc
        CompletableFuture<Creator> creator(String name);
    }

    /** Knows the followers of each user. */
    @RpcService("/social/graph")
    interface Followers {
        @Rpc
        CompletableFuture<List<Long>> followers(long user);
    }

    /** Stores posts. */
    @RpcService("/social/posts")
    interface Posts {
        /** Stores a post and returns its number. */
        @Rpc
        CompletableFuture<Long> store(Post post);

        /** The posts with those numbers that are still stored. */
        @Rpc
        CompletableFuture<List<Post>> read(List<Long> posts);
    }

    /** Timelines of users: what they wrote, or what those wrote that they follow. Each is a service of its own. */
    @RpcService("/social/timeline")
    interface Timelines {
        /** Adds a post and returns to how many timelines. */
        @Rpc
        CompletableFuture<Integer> add(Entry entry);

        @Rpc
        CompletableFuture<List<Post>> read(Range range);
    }
}
