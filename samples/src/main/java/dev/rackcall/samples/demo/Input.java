package dev.rackcall.samples.demo;

import java.nio.file.Path;
import java.util.Optional;

/**
 * Where the documents come from.
 *
 * @param file lines of JSON; if empty, documents are generated
 * @param count how many to generate
 * @param seed decides which are generated, and what is searched for
 */
public record Input(Optional<Path> file, long count, long seed) {}
