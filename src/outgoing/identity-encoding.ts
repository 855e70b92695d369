/**
 * A header of every provider request, since answers are read uncompressed as they arrive. Without it any content coding
 * would be allowed (RFC 9110, section 12.5.3), and some proxies in front of model servers do compress.
 */
export const identityEncoding: Readonly<Record<string, string>> = { 'accept-encoding': 'identity' }
