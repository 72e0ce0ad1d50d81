/**
 * An outcome for a reader: {@link dev.rackcall.perf.report.TableReport} prints tables for a terminal,
 * {@link dev.rackcall.perf.report.HtmlReport} one page with charts and the same tables. Both render what
 * {@code ReportSection} takes from the outcome. JSON is the outcome's own affair.
 */
package dev.rackcall.perf.report;
