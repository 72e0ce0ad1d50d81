/** Races of ALock's local threads, in ALock's package so that they reach its package-private types. */
package dev.rackcall.lock;
