package dev.rackcall.verbs.generator;

import java.util.Locale;
import java.util.Set;

/** Java names for C names. */
final class Names {
    private static final Set<String> TAKEN = Set.of("switch", "private", "new", "case", "default", "class", "errno");

    private Names() {}

    /** {@code ibv_send_wr} is IbvSendWr. */
    static String type(String c) {
        StringBuilder name = new StringBuilder();
        for (String part : c.split("_")) {
            if (!part.isEmpty()) {
                name.append(Character.toUpperCase(part.charAt(0))).append(part.substring(1));
            }
        }
        return name.toString();
    }

    /** {@code wr.rdma.rkey} is wrRdmaRkey. */
    static String camel(String c) {
        String name = type(c.replace('.', '_'));
        name = Character.toLowerCase(name.charAt(0)) + name.substring(1);
        return TAKEN.contains(name) ? name + "Value" : name;
    }

    /** {@code wr.rdma.rkey} is WR_RDMA_RKEY. */
    static String constant(String c) {
        return c.replace('.', '_').toUpperCase(Locale.ROOT);
    }
}
