/** Races of what calls share with transports, in the package of the code under test; nothing else depends on them. */
package dev.rackcall.rpc.spi;
