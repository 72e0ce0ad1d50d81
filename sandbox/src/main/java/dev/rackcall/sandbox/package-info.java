/**
 * Isolation: what lets a process read objects that a peer has built without trusting the peer. An {@link dev.rackcall.sandbox.ArgumentSpace} confines
 * the Refs of a call's arguments to the scope that they came in, either where it lies or in a private copy, a snapshot. Seals keep the sender
 * from changing a scope while a call has it.
 */
package dev.rackcall.sandbox;
