package dev.rackcall.perf.social;

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
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Function;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** What the services do, on stores in the heap. Any thread may call; no method waits. */
final class SocialServices {
    private SocialServices() {}

    /** Asks four services at once, and then tells three. */
    record Composing(Texts texts, Users users, Ids ids, Posts posts, Timelines own, Timelines home) implements Compose {
        @Override
        public CompletableFuture<Long> compose(Draft draft) {
            CompletableFuture<ComposedText> text = texts.composeText(draft.text());
            CompletableFuture<Creator> author = users.creator(draft.author());
            CompletableFuture<Long> id = ids.next();
            return CompletableFuture.allOf(text, author, id)
                    .thenCompose(
                            _ -> publish(new Post(id.join(), author.join(), text.join(), System.currentTimeMillis())));
        }

        private CompletableFuture<Long> publish(Post post) {
            List<Long> mentioned =
                    post.text().mentions().stream().map(Creator::id).toList();
            Entry entry = new Entry(post.id(), post.creator().id(), mentioned);
            return CompletableFuture.allOf(posts.store(post), own.add(entry), home.add(entry))
                    .thenApply(_ -> post.id());
        }
    }

    /** Finds names and addresses, asks for both at once, and replaces the addresses. */
    record TextComposing(Urls urls, Mentions mentions) implements Texts {
        private static final Pattern MENTION = Pattern.compile("@[a-zA-Z0-9_-]+");
        private static final Pattern URL = Pattern.compile("https?://[a-zA-Z0-9_.~%/-]+");

        @Override
        public CompletableFuture<ComposedText> composeText(String text) {
            CompletableFuture<List<ShortUrl>> shortened = urls.shorten(
                    URL.matcher(text).results().map(MatchResult::group).toList());
            return mentions.mentioned(MENTION.matcher(text)
                            .results()
                            .map(mention -> mention.group().substring(1))
                            .toList())
                    .thenCombine(shortened, (named, links) -> {
                        String composed = text;
                        for (ShortUrl link : links) {
                            composed = composed.replace(link.url(), link.shortened());
                        }
                        return new ComposedText(composed, named, links);
                    });
        }
    }

    /** The users by name; also looks up mentions, in another process. */
    static final class UserStore implements Users, Mentions {
        private final Map<String, Creator> users = new HashMap<>();

        UserStore() {
            for (long user = 0; user < SocialGraph.USERS; user++) {
                users.put(SocialGraph.name(user), new Creator(user, SocialGraph.name(user)));
            }
        }

        @Override
        public CompletableFuture<Creator> creator(String name) {
            return CompletableFuture.completedFuture(Objects.requireNonNull(users.get(name), name));
        }

        @Override
        public CompletableFuture<List<Creator>> mentioned(List<String> names) {
            return CompletableFuture.completedFuture(
                    names.stream().map(users::get).filter(Objects::nonNull).toList());
        }
    }

    /** Short forms of the last addresses. */
    static final class UrlStore implements Urls {
        private static final int KEPT = 1 << 16;
        private final Map<String, String> urls = new ConcurrentHashMap<>();
        private final AtomicLong last = new AtomicLong();

        @Override
        public CompletableFuture<List<ShortUrl>> shorten(List<String> addresses) {
            return CompletableFuture.completedFuture(
                    addresses.stream().map(this::shorten).toList());
        }

        private ShortUrl shorten(String address) {
            long number = last.incrementAndGet();
            String shortened = address(number);
            urls.put(shortened, address);
            urls.remove(address(number - KEPT));
            return new ShortUrl(address, shortened);
        }

        private static String address(long number) {
            return "http://short-url/" + Long.toString(number, Character.MAX_RADIX);
        }
    }

    static final class IdSource implements Ids {
        private final AtomicLong last = new AtomicLong();

        @Override
        public CompletableFuture<Long> next() {
            return CompletableFuture.completedFuture(last.incrementAndGet());
        }
    }

    static final class GraphStore implements Followers {
        private final List<List<Long>> followers = SocialGraph.followers();

        @Override
        public CompletableFuture<List<Long>> followers(long user) {
            return CompletableFuture.completedFuture(followers.get((int) user));
        }
    }

    /** The last posts, more than all users' timelines hold. */
    static final class PostStore implements Posts {
        private static final int KEPT = 1 << 17;
        private final Map<Long, Post> posts = new ConcurrentHashMap<>();

        @Override
        public CompletableFuture<Long> store(Post post) {
            posts.put(post.id(), post);
            posts.remove(post.id() - KEPT);
            return CompletableFuture.completedFuture(post.id());
        }

        @Override
        public CompletableFuture<List<Post>> read(List<Long> numbers) {
            return CompletableFuture.completedFuture(
                    numbers.stream().map(posts::get).filter(Objects::nonNull).toList());
        }
    }

    /**
     * Timelines, to which a post is added when it is written.
     *
     * @param audience the users whose timelines get a post
     */
    record WrittenTimelines(TimelineStore store, Posts posts, Function<Entry, CompletableFuture<List<Long>>> audience)
            implements Timelines {
        /** What each user wrote. */
        static Timelines own(Posts posts) {
            return new WrittenTimelines(
                    new TimelineStore(), posts, entry -> CompletableFuture.completedFuture(List.of(entry.user())));
        }

        /** What those wrote that each user follows, and where the user is mentioned. */
        static Timelines home(Posts posts, Followers graph) {
            return new WrittenTimelines(
                    new TimelineStore(),
                    posts,
                    entry -> graph.followers(entry.user())
                            .thenApply(followers -> Stream.concat(followers.stream(), entry.mentioned().stream())
                                    .distinct()
                                    .toList()));
        }

        @Override
        public CompletableFuture<Integer> add(Entry entry) {
            return audience.apply(entry).thenApply(users -> {
                users.forEach(user -> store.add(user, entry.post()));
                return users.size();
            });
        }

        @Override
        public CompletableFuture<List<Post>> read(Range range) {
            return posts.read(store.read(range));
        }
    }
}
