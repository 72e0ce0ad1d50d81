/**
 * The objects of {@link dev.rackcall.verbs} in the software device: context, protection domain and queue pair.
 * {@link dev.rackcall.verbs.soft.device.SoftContext} connects the links with the queue pairs. This package uses all
 * others of the device; only {@code dev.rackcall.verbs.soft} uses it.
 */
package dev.rackcall.verbs.soft.device;
