/**
 * Registered memory of the software device. {@link dev.rackcall.verbs.soft.memory.DomainMemory} checks key, domain,
 * bounds and rights of every access and performs it. This package uses no other package of the device.
 */
package dev.rackcall.verbs.soft.memory;
