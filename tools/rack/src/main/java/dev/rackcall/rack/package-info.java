/**
 * {@code ./rackcall rack-test}: three virtual machines, of which A and B share memory and C has only the network, and
 * the tests that run in them. Start with {@link dev.rackcall.rack.RackTestCommand}: it prepares a {@code GuestImage}
 * and a {@code GuestShare}, boots a {@code Rack}, and judges the guests' reports on their consoles. The programs that
 * run inside are in {@link dev.rackcall.rack.guest}.
 */
package dev.rackcall.rack;
