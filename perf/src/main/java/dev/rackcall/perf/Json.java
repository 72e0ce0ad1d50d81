package dev.rackcall.perf;

import com.fasterxml.jackson.annotation.JsonInclude;
import tools.jackson.databind.DeserializationFeature;
import tools.jackson.databind.PropertyNamingStrategies;
import tools.jackson.databind.SerializationFeature;
import tools.jackson.databind.json.JsonMapper;

/** JSON as the benchmark writes it: snake case ({@code p50_ns}), absent values left out, fields in the order of declaration. */
final class Json {
    /** One line, for messages between processes. */
    static final JsonMapper LINE = JsonMapper.builder()
            .propertyNamingStrategy(PropertyNamingStrategies.SNAKE_CASE)
            .changeDefaultPropertyInclusion(inclusion -> inclusion.withValueInclusion(JsonInclude.Include.NON_ABSENT))
            .disable(tools.jackson.databind.MapperFeature.SORT_PROPERTIES_ALPHABETICALLY)
            .disable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES)
            .build();

    /** For files and people. */
    static final JsonMapper PRETTY =
            LINE.rebuild().enable(SerializationFeature.INDENT_OUTPUT).build();

    private Json() {}
}
