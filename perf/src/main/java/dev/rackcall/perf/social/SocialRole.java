package dev.rackcall.perf.social;

import dev.rackcall.perf.social.SocialApi.Compose;
import dev.rackcall.perf.social.SocialApi.Followers;
import dev.rackcall.perf.social.SocialApi.Ids;
import dev.rackcall.perf.social.SocialApi.Mentions;
import dev.rackcall.perf.social.SocialApi.Posts;
import dev.rackcall.perf.social.SocialApi.Texts;
import dev.rackcall.perf.social.SocialApi.Timelines;
import dev.rackcall.perf.social.SocialApi.Urls;
import dev.rackcall.perf.social.SocialApi.Users;
import java.util.Locale;
import java.util.function.Function;

/** The services. Each is a process, and calls some of the services before it in this list. */
enum SocialRole {
    URL(Urls.class, _ -> new SocialServices.UrlStore()),
    MENTION(Mentions.class, _ -> new SocialServices.UserStore()),
    TEXT(
            Texts.class,
            peers -> new SocialServices.TextComposing(peers.of(URL, Urls.class), peers.of(MENTION, Mentions.class))),
    USER(Users.class, _ -> new SocialServices.UserStore()),
    ID(Ids.class, _ -> new SocialServices.IdSource()),
    GRAPH(Followers.class, _ -> new SocialServices.GraphStore()),
    POSTS(Posts.class, _ -> new SocialServices.PostStore()),
    OWN_TIMELINE(Timelines.class, peers -> SocialServices.WrittenTimelines.own(peers.of(POSTS, Posts.class))),
    HOME_TIMELINE(
            Timelines.class,
            peers -> SocialServices.WrittenTimelines.home(
                    peers.of(POSTS, Posts.class), peers.of(GRAPH, Followers.class))),
    COMPOSE(
            Compose.class,
            peers -> new SocialServices.Composing(
                    peers.of(TEXT, Texts.class),
                    peers.of(USER, Users.class),
                    peers.of(ID, Ids.class),
                    peers.of(POSTS, Posts.class),
                    peers.of(OWN_TIMELINE, Timelines.class),
                    peers.of(HOME_TIMELINE, Timelines.class)));

    private final Class<?> type;
    private final Function<SocialTransport.Connections, Object> service;

    SocialRole(Class<?> type, Function<SocialTransport.Connections, Object> service) {
        this.type = type;
        this.service = service;
    }

    /** The interface of the service. */
    Class<?> type() {
        return type;
    }

    /** A new service that calls these. */
    Object service(SocialTransport.Connections peers) {
        return service.apply(peers);
    }

    /** The name of its channel. */
    String channel() {
        return "/social/" + name().toLowerCase(Locale.ROOT).replace('_', '-');
    }
}
