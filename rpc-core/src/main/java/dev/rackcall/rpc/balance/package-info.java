/**
 * Channels with several servers. A {@code RoutedConnection} asks its {@code Balancer} for the open subchannels, and
 * each {@code RoutedCall} picks one. {@code HostBalancer} finds the servers of this host; rackcall-routing
 * has a balancer for servers in a directory.
 */
package dev.rackcall.rpc.balance;
