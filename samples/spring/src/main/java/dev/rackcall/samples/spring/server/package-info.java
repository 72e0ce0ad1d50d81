/** The application that serves; start with {@link dev.rackcall.samples.spring.server.ShopServer}. */
package dev.rackcall.samples.spring.server;
