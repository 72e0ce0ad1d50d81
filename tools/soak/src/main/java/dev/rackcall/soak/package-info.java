/**
 * {@code ./rackcall soak}: calls of all kinds over all transports of one host, among peers that are killed and
 * stopped, beside a stranger that writes garbage. {@link dev.rackcall.soak.Soak} starts the processes and looks at them from outside; start with it.
 */
package dev.rackcall.soak;
