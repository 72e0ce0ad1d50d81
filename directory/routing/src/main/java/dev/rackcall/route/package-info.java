/**
 * Finds the servers of a channel in a directory and calls each over its best route.
 * A {@code ChannelRoutes} follows one channel and keeps a {@code Subchannel} to each of the nearest endpoints.
 * A {@code RoutedCall} picks one of these subchannels.
 * Start with {@link dev.rackcall.route.DirectoryRouter}.
 */
package dev.rackcall.route;
