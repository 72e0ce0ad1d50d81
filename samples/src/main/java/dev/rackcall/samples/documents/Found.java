package dev.rackcall.samples.documents;

import java.util.List;

/**
 * What a search found.
 *
 * @param total how many documents match
 * @param documents those of the lowest numbers, in ascending order, up to the limit that was asked; they stay the store's, and are read where they lie
 */
public record Found(long total, List<Document> documents) {}
