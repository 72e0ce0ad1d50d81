package dev.rackcall.directory;

import dev.rackcall.directory.DirectoryException.Reason;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.DeserializationFeature;
import tools.jackson.databind.json.JsonMapper;

/** The content of entries, as JSON. Unknown fields are ignored, because later versions may write more. */
final class Records {
    private static final Logger LOG = LoggerFactory.getLogger(Records.class);
    private static final JsonMapper JSON = JsonMapper.builder()
            .disable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES)
            .build();

    private Records() {}

    /**
     * @param owner the member, for diagnosis only
     * @param bytes of memory; 0 for an arena id
     */
    record Claim(String owner, long bytes) {}

    static byte[] bytes(Object value) {
        byte[] bytes = JSON.writeValueAsBytes(value);
        if (bytes.length > DirectoryStore.MAX_VALUE_BYTES) {
            throw new DirectoryException(
                    Reason.INVALID,
                    "a record of " + bytes.length + " bytes is more than the " + DirectoryStore.MAX_VALUE_BYTES
                            + " that a directory takes; name fewer pools and addresses");
        }
        return bytes;
    }

    /** The content of an entry; empty if it is malformed, which is logged. */
    static <T> Optional<T> read(byte[] bytes, Class<T> type, String entry) {
        try {
            return Optional.ofNullable(JSON.readValue(bytes, type));
        } catch (JacksonException | DirectoryException e) {
            LOG.warn("the directory's entry {} is ignored: {}", entry, e.getMessage());
            return Optional.empty();
        }
    }
}
