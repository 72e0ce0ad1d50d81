/**
 * libibverbs, librdmacm and poll(2) as C sees them: one class a struct (size, offsets, accessors), one an enumeration (constants), one a
 * library (functions, in C's order of arguments; pointers are addresses). All but {@code NativeLibrary} and {@code CallState} is generated
 * by {@code verbs/generate-bindings} and compared with the C compiler by a test. The only package of this module that links native code;
 * return codes are judged in {@code dev.rackcall.verbs.real}.
 */
package dev.rackcall.verbs.ffi;
