/**
 * Servers that a directory names, and the best way to each of them. A {@code ChannelRoutes} follows one channel in the directory and keeps {@code Line}s
 * to its endpoints, each over the best of the endpoint's {@code Path}s that works; a {@code RoutedCall} takes one of the lines. Start with {@link
 * dev.rackcall.route.DirectoryRouter}.
 */
package dev.rackcall.route;
