/**
 * Versions of a service: compares the interfaces of a connection's two ends, and lets a client call a server that was
 * built from an older or newer version. {@link dev.rackcall.rpc.schema.Compatibility} finds the differences; {@link
 * dev.rackcall.rpc.schema.Adaptation} makes a connection that converts what differs, always at the client. Start with
 * {@code Schema}, which parses {@link dev.rackcall.rpc.spi.ServiceDefinition#description}.
 */
package dev.rackcall.rpc.schema;
