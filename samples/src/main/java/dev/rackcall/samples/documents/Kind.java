package dev.rackcall.samples.documents;

/** The kind of a {@link JsonValue}. The order is part of the memory layout. */
public enum Kind {
    NULL,
    BOOLEAN,
    /** A whole number that fits a {@code long}. */
    INTEGER,
    /** A number whose decimal digits a {@code double} keeps. */
    DOUBLE,
    /** Any other number, kept as text so that no digit is lost. */
    DECIMAL,
    TEXT,
    ARRAY,
    OBJECT
}
