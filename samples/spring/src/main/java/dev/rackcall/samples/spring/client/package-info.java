/** The application that calls; start with {@link dev.rackcall.samples.spring.client.ShopClient}. */
package dev.rackcall.samples.spring.client;
