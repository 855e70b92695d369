import type { Notice } from '#records/notices.ts'
import type { Sink } from '#runtime/internal.ts'
import { ServiceError } from '#specs/errors/errors.ts'
import { projectScope } from '#storage/index.ts'
import { storedAdditions } from '../schema.ts'
import type { Additions, StoreFiles } from './store-files.ts'

/** Name of the sink that receives `{ type: 'add', base, files, by }` and adds the files to the base. */
export const additionSink = 'vector_store_additions'

/** Returns the message stored with what adds the files, so that all of them are added even after a crash. */
export const additionNotice = ({ base, files, by }: Additions): readonly Notice[] => {
  if (files.length === 0) return []
  const named = files.map(({ file_id, attributes = null, param }) => ({ file_id, attributes, param }))
  return [{ kind: 'message', to: additionSink, event: { type: 'add', base, files: named, by } }]
}

/**
 * Adds the files of additions that are not in their bases yet. What is refused was refused to the caller too.
 */
export const storeAdditions =
  (storeFiles: StoreFiles): Sink =>
  async ({ project }, { event }) => {
    const { base, files, by } = storedAdditions(event)
    for (const each of files) {
      try {
        await storeFiles.add(projectScope(project), base, { ...each, by })
      } catch (error) {
        if (!(error instanceof ServiceError) || error.isPassing) throw error
      }
    }
  }
