package dev.rackcall.verbs;

/**
 * Why a device could not be reached.
 *
 * @param full whether it refused because it has too many peers; later it may have room
 * @param reason for a message: what failed
 */
public record Unreachable(boolean full, String reason) {}
