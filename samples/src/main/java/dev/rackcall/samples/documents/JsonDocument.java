package dev.rackcall.samples.documents;

import tools.jackson.databind.JsonNode;

/** A document as an ordinary program holds it: in the Java heap. */
public record JsonDocument(long number, JsonNode content) {}
