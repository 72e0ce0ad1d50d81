package shop;

import dev.rackcall.spring.RpcClient;
import org.springframework.boot.ApplicationRunner;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;

/** A user's application. */
@SpringBootApplication
public class PriceServer {
    static void main(String[] args) {
        SpringApplication.run(PriceServer.class, args);
    }

    /** With the argument {@code --once}, calls its own server and ends. */
    @Bean
    ApplicationRunner once(@RpcClient Prices prices, ConfigurableApplicationContext context) {
        return arguments -> {
            if (arguments.containsOption("once")) {
                System.out.println("tea costs " + prices.of("tea"));
                context.close();
            }
        };
    }
}
