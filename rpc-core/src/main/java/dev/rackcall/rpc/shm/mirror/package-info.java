/**
 * Connections whose two ends have memory of their own, over a {@link dev.rackcall.rpc.spi.Carrier}: each end mirrors the other.
 * {@code MirrorBell} carries over what was published; {@code RemoteClient} and {@code RemoteServer} make such connections.
 * {@code ChannelScopes} and {@code HeldScopes} are the server's and the client's side of scopes that several clients share.
 */
package dev.rackcall.rpc.shm.mirror;
