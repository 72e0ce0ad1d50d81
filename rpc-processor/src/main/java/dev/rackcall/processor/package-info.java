/**
 * The annotation processor: stubs, dispatchers and codecs for {@code @RpcService} interfaces, flyweights for {@code @Shared} interfaces.
 * It knows the annotations by name, so that it depends on nothing but JavaPoet. Start with
 * {@link dev.rackcall.processor.RackcallProcessor}.
 */
package dev.rackcall.processor;
