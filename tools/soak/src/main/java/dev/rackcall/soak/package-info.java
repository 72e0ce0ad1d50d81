/**
 * {@code ./rackcall soak}: calls of all kinds over all transports of one host, among peers that are killed, stopped and
 * lied to. {@link dev.rackcall.soak.Soak} starts the processes and looks at them from outside; start with it.
 */
package dev.rackcall.soak;
