package dev.rackcall.rpc.spi;

/**
 * The service interface at the other end of a connection.
 *
 * @param name of the interface
 * @param fingerprint as {@link ServiceDefinition#fingerprint}
 * @param description as {@link ServiceDefinition#description}
 */
public record ServedInterface(String name, long fingerprint, String description) {
    public static ServedInterface of(ServiceDefinition<?> definition) {
        return new ServedInterface(definition.type().getName(), definition.fingerprint(), definition.description());
    }
}
