import { createHash } from 'node:crypto'

/** A strong entity tag of these bytes: the same on every node and after every start. */
export const entityTag = (content: string | Uint8Array): string =>
  `"${createHash('sha256').update(content).digest('base64url').slice(0, 22)}"`

/** Whether `If-None-Match` names the tag: RFC 9110, section 13.1.2, weak comparison against a list of tags. */
export const namesTag = (ifNoneMatch: string | undefined, etag: string): boolean =>
  (ifNoneMatch ?? '').split(',').some((tag) => tag.trim() === '*' || tag.trim().replace(/^W\//, '') === etag)
