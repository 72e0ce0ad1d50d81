/** What the pages of {@code docs} show, run as tests: one class for each page that has code of its own. */
package dev.rackcall.samples.pages;
