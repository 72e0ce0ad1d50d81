package dev.rackcall.samples.spring.server;

import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;

/** An application that serves. */
@SpringBootApplication
public class ShopServer {
    static void main(String[] args) {
        SpringApplication.run(ShopServer.class, args);
    }
}
