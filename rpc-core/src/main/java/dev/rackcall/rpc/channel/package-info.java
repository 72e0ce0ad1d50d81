/**
 * The channels and servers behind the interfaces of {@code dev.rackcall.rpc}.
 * {@code StubCalls} begins each call of a stub; {@code ChannelConnection} reconnects a channel whose connection has ended.
 * {@code CoreProvider} is what the API finds by {@link java.util.ServiceLoader}.
 */
package dev.rackcall.rpc.channel;
