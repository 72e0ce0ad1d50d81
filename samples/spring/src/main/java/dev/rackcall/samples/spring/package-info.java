/**
 * Two applications of Spring Boot, as docs/spring.md shows them: {@code server.ShopServer} serves a cart,
 * {@code client.ShopClient} calls it.
 */
package dev.rackcall.samples.spring;
