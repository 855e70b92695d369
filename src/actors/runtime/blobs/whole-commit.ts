import type { Commit, MessageRecord, Storage } from '#storage/ports.ts'
import { isEvent, isObject } from '../schema.ts'
import { restoreBlobs } from './blob-fields.ts'

/**
 * The commit with blob references replaced by their content in the fields that a host reads: snapshot and messages.
 *
 * @throws {Unrestorable} when a blob is missing: a later commit may have replaced the snapshot since it was read.
 */
export const wholeCommit = async (commit: Commit, storage: Storage): Promise<Commit> => {
  const snapshot = await restoreBlobs(commit.snapshot ?? {}, storage.blobs, commit.project)
  const messages = await wholeMessages(commit, storage)
  return { ...commit, messages, snapshot: isObject(snapshot) ? snapshot : {} }
}

/** The messages of a commit with blob references replaced by their content. */
export const wholeMessages = ({ project, messages }: Commit, { blobs }: Storage): Promise<readonly MessageRecord[]> =>
  Promise.all(
    messages.map(async (message) => {
      const event = await restoreBlobs(message.event, blobs, project)
      return isEvent(event) ? { ...message, event } : message
    }),
  )
