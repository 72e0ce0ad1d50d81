/**
 * The annotation processor. It generates stubs, dispatchers and codecs for {@code @RpcService} interfaces and
 * flyweights for {@code @Shared} interfaces. It refers to the annotations by name, so it depends only on JavaPoet;
 * start with {@link dev.rackcall.processor.RackcallProcessor}.
 */
package dev.rackcall.processor;
