/**
 * Files that processes share: creating, reserving, mapping, sealing and locking them, and placing their memory. {@link
 * dev.rackcall.shm.os.file.SharedFile} covers memfds, named files and device-dax; {@link
 * dev.rackcall.shm.os.file.OwnerLock} proves the death of an owner. Start with {@code SharedFile} and {@link
 * dev.rackcall.shm.os.file.Mapping}.
 */
package dev.rackcall.shm.os.file;
