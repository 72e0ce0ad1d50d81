package dev.rackcall.cp.control;

import dev.rackcall.cp.HostId;

/**
 * One life of a host: from the start of its agent to its end.
 *
 * @param epoch drawn at random when the agent starts
 */
public record HostLife(HostId host, int epoch) {
    @Override
    public String toString() {
        return host + ", epoch " + Integer.toHexString(epoch);
    }
}
