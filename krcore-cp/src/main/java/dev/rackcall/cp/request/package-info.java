/**
 * What a tenant's request may do. {@link dev.rackcall.cp.request.CheckedRequest} copies a request and checks the copy.
 * It checks against {@link dev.rackcall.cp.request.TenantMemory}, the regions of the tenant, and
 * {@link dev.rackcall.cp.request.KnownRegions}, the records of the peer's regions.
 */
package dev.rackcall.cp.request;
