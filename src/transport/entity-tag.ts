import { createHash } from 'node:crypto'

/** Returns a strong entity tag of the content: the same on every node and after every start. */
export const entityTag = (content: string | Uint8Array): string =>
  `"${createHash('sha256').update(content).digest('base64url').slice(0, 22)}"`

/** Whether `If-None-Match` contains the tag, by weak comparison (RFC 9110, section 13.1.2). */
export const namesTag = (ifNoneMatch: string | undefined, etag: string): boolean =>
  (ifNoneMatch ?? '').split(',').some((tag) => tag.trim() === '*' || tag.trim().replace(/^W\//, '') === etag)
