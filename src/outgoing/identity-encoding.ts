/**
 * A header of every request to a provider: answers are read in passing, as they are. Without it any content coding would
 * be right (RFC 9110, section 12.5.3), and some proxies before model servers do compress.
 */
export const identityEncoding: Readonly<Record<string, string>> = { 'accept-encoding': 'identity' }
