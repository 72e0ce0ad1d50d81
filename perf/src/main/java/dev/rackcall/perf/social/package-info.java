/**
 * The target {@code social}: the social network of DeathStarBench (Gan et al., ASPLOS 2019), one process a service, over
 * Rackcall and over grpc-java. {@code SocialApi} has the services' interfaces, {@code SocialRole} which processes there
 * are, {@code SocialTransport} what connects them, {@code LoadGenerator} the requests, and
 * {@link dev.rackcall.perf.social.SocialTarget} measures.
 */
package dev.rackcall.perf.social;
