package dev.rackcall.spring;

import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * The properties of servers and channels.
 *
 * @param runtimeFolder Folder of the sockets of this host's servers; RACKCALL_DIR or the user's own by default.
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
     * @param drain How long calls may go on after the shutdown began. At most
     *     spring.lifecycle.timeout-per-shutdown-phase.
     */
    record Server(
            @DefaultValue List<URI> listen,
            boolean insecure,
            @DefaultValue("20s") Duration drain) {}

    /**
     * The properties of channels.
     *
     * @param timeout Time-out of calls that set none.
     * @param addresses Address of each channel whose server shares no memory with this process, by the channel's name.
     */
    record Client(
            @DefaultValue("30s") Duration timeout,
            @DefaultValue Map<String, URI> addresses) {}
}
