/**
 * Rackcall in a Spring Boot application. One server serves the beans with {@link dev.rackcall.spring.RpcHandler}; fields
 * and parameters with {@link dev.rackcall.spring.RpcClient} get stubs. The context starts and drains the server, and
 * closes the channels. See {@code docs/spring.md}.
 */
package dev.rackcall.spring;
