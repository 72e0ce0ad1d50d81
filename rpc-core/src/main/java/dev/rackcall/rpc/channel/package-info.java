/**
 * The channels and servers behind the interfaces of {@code dev.rackcall.rpc}. {@code StubCalls} begins each call of a
 * stub; {@code ChannelConnection} reconnects a channel whose connection has ended. The API finds {@code CoreProvider}
 * through {@link java.util.ServiceLoader}.
 */
package dev.rackcall.rpc.channel;
