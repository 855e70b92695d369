/**
 * Values over 64 KB, keyed by SHA-256 within a project. The key of a value with an owner starts with the owner's ids
 * (`ten_….ses_….<sha256>`), so that it can be removed with its owner.
 */
export interface BlobStore {
  /** Stores `content`; storing the same again has no effect. Durable when it resolves. */
  put(project: string, hash: string, content: string | Uint8Array): Promise<void>
  /** Returns a text. */
  get(project: string, hash: string): Promise<string | null>
  /** Returns bytes as they were stored; those of a text in UTF-8. */
  bytes(project: string, hash: string): Promise<Uint8Array | null>
  /** Returns hashes of a project's blobs, ascending, after `after`, at most `limit`. For backups. */
  hashes(project: string, after: string | null, limit: number): Promise<readonly string[]>
  /** Removes a project's blobs whose hash starts with `prefix`, which is not empty, and the vectors derived from them. */
  remove(project: string, prefix: string): Promise<void>
}
