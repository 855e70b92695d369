import { createHash } from 'node:crypto'

/** Returns the `contentHash` of what was fetched, read or found: the algorithm, a colon and the digest in hexadecimal. */
export const contentHashOf = (content: string | Uint8Array): string =>
  `sha256:${createHash('sha256').update(content).digest('hex')}`
