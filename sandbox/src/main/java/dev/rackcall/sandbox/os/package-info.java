/**
 * What Linux offers to close memory: {@link dev.rackcall.sandbox.os.Userfault} and {@link dev.rackcall.sandbox.os.PageProtection} against stores,
 * behind the one interface {@link dev.rackcall.sandbox.os.PageProtector}. Built on {@code dev.rackcall.shm.os}: it links native code, and
 * nobody else in this module does.
 */
package dev.rackcall.sandbox.os;
