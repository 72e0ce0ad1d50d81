package dev.rackcall.spring;

import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Map;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;
import org.springframework.boot.convert.DurationUnit;

/**
 * The properties of servers and channels.
 *
 * @param runtimeFolder Folder of this host's server sockets; RACKCALL_DIR or the user's own by default.
 * @param directory Directory in which servers announce themselves and channels find them, such as file:///a/folder or
 *     zk://host:2181.
 * @param server Settings of the server.
 * @param client Settings of channels.
 */
@ConfigurationProperties("rackcall")
record RackcallProperties(
        Path runtimeFolder,
        URI directory,
        @DefaultValue Server server,
        @DefaultValue Client client) {
    /**
     * The properties of the server.
     *
     * @param listen Addresses for clients that share no memory with this process, such as soft://host:port.
     * @param insecure Whether hosts without a certificate may call an address that other hosts reach.
     * @param drain How long calls have to finish when the context closes, in seconds if without a unit. At most
     *     a second less than spring.lifecycle.timeout-per-shutdown-phase.
     */
    record Server(
            @DefaultValue List<URI> listen,
            boolean insecure,

            @DurationUnit(ChronoUnit.SECONDS) @DefaultValue("20s")
            Duration drain) {}

    /**
     * The properties of channels.
     *
     * @param timeout Timeout of calls that set none, in seconds if without a unit.
     * @param addresses Address of each channel whose server shares no memory with this process, by the channel's name
     *     in brackets.
     */
    record Client(
            @DurationUnit(ChronoUnit.SECONDS) @DefaultValue("30s")
            Duration timeout,

            @DefaultValue Map<String, URI> addresses) {}
}
