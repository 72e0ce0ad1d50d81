/**
 * Links between software devices: TCP connections with frames on them. {@link dev.rackcall.verbs.soft.wire.FrameLayout}
 * defines the bytes, {@link dev.rackcall.verbs.soft.wire.Link} moves them, and
 * {@link dev.rackcall.verbs.soft.wire.Links} decides which thread reads. This package does not depend on queue pairs.
 */
package dev.rackcall.verbs.soft.wire;
