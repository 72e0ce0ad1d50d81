package dev.rackcall.directory;

/**
 * Paths of the directory's entries. The segment {@code @} occurs in no channel's name, so it separates a channel's
 * endpoints from the channels below it.
 */
final class EntryPaths {
    static final String CHANNELS = "/channels";
    static final String ARENAS = "/arenas";
    static final String LIMITS = "/limits";
    static final String ENDPOINTS = "@";
    static final String OWNER = "owner";

    private EntryPaths() {}

    static String endpoints(ChannelName channel) {
        return CHANNELS + channel + "/" + ENDPOINTS;
    }

    static String endpoint(ChannelName channel, String id) {
        return endpoints(channel) + "/" + id;
    }

    static String arena(int id) {
        return ARENAS + "/" + id;
    }

    static String arenaOwner(int id) {
        return arena(id) + "/" + OWNER;
    }

    static String memory(String member, long number) {
        return "/memory/" + member + "/" + number;
    }
}
