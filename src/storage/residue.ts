/**
 * What removed content leaves in the files of a store (specs/decisions/0250-forgetting-includes-writes.md).
 * - `overwritten`: its bytes were overwritten, and the write-ahead log was emptied.
 * - `pending`: another process reads the file, so the write-ahead log still has them; it is emptied later.
 * - `reused_later`: a database of its own removes documents at once, and reuses their space when it needs some.
 */
export type Residue = 'overwritten' | 'pending' | 'reused_later'
