/**
 * {@code rackcall top}: finds the memory of connections in {@code /proc}, watches it from outside, and shows which
 * processes call each other, and how often.
 */
package dev.rackcall.cli.top;
