package dev.rackcall.verbs;

/**
 * The state and limits of a port (struct ibv_port_attr).
 *
 * @param state whether it can carry messages
 * @param activeMtu its current maximum packet payload
 * @param lid its local address; 0 on Ethernet
 * @param gidTableLength entries of its GID table
 * @param maxMessageBytes the longest message
 * @param ethernet whether the link layer is Ethernet (RoCE), where every queue pair needs a GID
 */
public record PortAttributes(
        PortState state, Mtu activeMtu, int lid, int gidTableLength, long maxMessageBytes, boolean ethernet) {}
