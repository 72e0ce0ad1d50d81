package dev.rackcall.verbs;

import java.util.EnumSet;
import java.util.Set;

/**
 * The attributes that a queue pair needs for the INIT state.
 *
 * @param port its port
 * @param partitionKeyIndex index into the port's partition keys
 * @param rights the rights of peers (RC, DC_TARGET); the memory region must grant them, too
 * @param queueKey the key that accepted datagrams carry (UD)
 */
public record InitAttributes(int port, int partitionKeyIndex, Set<Access> rights, int queueKey) {
    /** Copies the set. */
    public InitAttributes {
        rights = Set.copyOf(rights);
    }

    /** Port 1, all rights: the memory regions decide. */
    public static InitAttributes connected() {
        return connected(EnumSet.allOf(Access.class));
    }

    /** Port 1, these rights. */
    public static InitAttributes connected(Set<Access> rights) {
        return new InitAttributes(1, 0, rights, 0);
    }

    /** Port 1, this queue key. */
    public static InitAttributes datagram(int queueKey) {
        return new InitAttributes(1, 0, Set.of(), queueKey);
    }
}
