package dev.rackcall.verbs;

/**
 * What a port says about itself (struct ibv_port_attr).
 *
 * @param state whether it can carry messages
 * @param activeMtu the largest packet payload it uses now
 * @param lid its local address; 0 on Ethernet
 * @param gidTableLength entries of its GID table
 * @param maxMessageBytes the longest message
 * @param ethernet whether the link layer is Ethernet (RoCE), where every queue pair needs a GID
 */
public record PortAttributes(
        PortState state, Mtu activeMtu, int lid, int gidTableLength, long maxMessageBytes, boolean ethernet) {}
