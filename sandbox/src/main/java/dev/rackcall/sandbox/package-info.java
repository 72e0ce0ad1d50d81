/**
 * Isolation lets a process read objects of a peer that it does not trust. An {@link dev.rackcall.sandbox.ArgumentSpace}
 * confines the Refs of a call's arguments to the scope that was passed. It reads that scope in place or from a private
 * copy (a snapshot). Seals prevent the sender from changing a scope during a call. Start with
 * {@link dev.rackcall.sandbox.Seals} and {@link dev.rackcall.sandbox.SealedScopes}.
 */
package dev.rackcall.sandbox;
