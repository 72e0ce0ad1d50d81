/**
 * How Linux closes memory: {@link dev.rackcall.sandbox.os.Userfault} and {@link
 * dev.rackcall.sandbox.os.PageProtection} close pages to stores, both as {@link
 * dev.rackcall.sandbox.os.PageProtector}; protection keys close them to threads. This is the only package of the
 * module that links native code.
 */
package dev.rackcall.sandbox.os;
