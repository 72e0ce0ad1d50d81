package dev.rackcall.perf.social;

import java.util.ArrayList;
import java.util.List;
import java.util.SortedSet;
import java.util.SplittableRandom;
import java.util.TreeSet;

/**
 * Who follows whom; the same in every process. As many users and friendships as the graph that DeathStarBench loads
 * (Facebook at Reed College, {@code socfb-Reed98} of networkrepository.com), made by preferential attachment, so that
 * the numbers of friends follow a power law.
 */
final class SocialGraph {
    static final int USERS = 962;
    private static final int FRIENDSHIPS = 18_812;
    private static final int EDGES_OF_A_USER = 19;
    private static final long SEED = 98;

    private SocialGraph() {}

    /** The name of a user. */
    static String name(long user) {
        return "username_" + user;
    }

    /** The followers of each user. */
    static List<List<Long>> followers() {
        List<SortedSet<Long>> friends = new ArrayList<>();
        // Each end of each friendship: a random element is a user, chosen by the number of friends.
        List<Long> ends = new ArrayList<>();
        SplittableRandom random = new SplittableRandom(SEED);
        for (long user = 0; user < USERS; user++) {
            friends.add(new TreeSet<>());
            for (int i = 0; i < Math.min(user, EDGES_OF_A_USER); ) {
                long other = user <= EDGES_OF_A_USER ? i : ends.get(random.nextInt(ends.size()));
                i += befriend(friends, ends, user, other) ? 1 : 0;
            }
        }
        while (ends.size() < 2 * FRIENDSHIPS) {
            befriend(friends, ends, random.nextInt(USERS), ends.get(random.nextInt(ends.size())));
        }
        return friends.stream().map(List::copyOf).toList();
    }

    private static boolean befriend(List<SortedSet<Long>> friends, List<Long> ends, long one, long other) {
        if (one == other || !friends.get((int) one).add(other)) {
            return false;
        }
        friends.get((int) other).add(one);
        ends.add(one);
        ends.add(other);
        return true;
    }
}
