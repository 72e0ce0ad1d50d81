/** A service after it was changed. */
package dev.rackcall.samples.pages.later;
