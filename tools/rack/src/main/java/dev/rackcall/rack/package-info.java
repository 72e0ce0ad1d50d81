/**
 * {@code ./rackcall rack-test}: three virtual machines, of which A and B share memory and C has only the network, and what is tested in them. Start with
 * {@link dev.rackcall.rack.RackTestCommand}, which prepares (packages, kernel, initramfs), boots a {@code Rack}, and judges what the guests say on their consoles. The
 * programs that run inside are in {@link dev.rackcall.rack.guest}.
 */
package dev.rackcall.rack;
