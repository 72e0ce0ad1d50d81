/**
 * The programs inside the guests of a rack: {@link dev.rackcall.rack.guest.GuestMain} runs one
 * {@link dev.rackcall.rack.guest.Step} after the other and reports each result on its console. Guests wait for each
 * other by files in a folder that all of them see ({@code Guest}).
 */
package dev.rackcall.rack.guest;
