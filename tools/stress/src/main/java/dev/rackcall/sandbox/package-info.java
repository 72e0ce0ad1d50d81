/** Races between a sealed process and the holder of its seals, in their package to reach its package-private types. */
package dev.rackcall.sandbox;
