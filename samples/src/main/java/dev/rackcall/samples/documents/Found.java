package dev.rackcall.samples.documents;

import java.util.List;

/**
 * The result of a search.
 *
 * @param total how many documents match
 * @param documents those with the lowest numbers, ascending, up to the search's limit; the store owns them, and
 *     they are read in place
 */
public record Found(long total, List<Document> documents) {}
