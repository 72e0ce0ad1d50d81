/**
 * What runs inside the guests of a rack: {@link dev.rackcall.rack.guest.GuestMain} takes one {@link dev.rackcall.rack.guest.Step} after the other and says on its
 * console how each went. Guests wait for each other by files in a folder that all of them see ({@code Meeting}).
 */
package dev.rackcall.rack.guest;
