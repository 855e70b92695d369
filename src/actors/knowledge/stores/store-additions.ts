import type { Notice } from '#records/notices.ts'
import type { Sink } from '#runtime/internal.ts'
import { ServiceError } from '#specs/errors/errors.ts'
import { projectScope } from '#storage/index.ts'
import { storedAdditions } from '../schema.ts'
import type { Additions, StoreFiles } from './store-files.ts'

/** Name of the sink that receives `{ type: 'add', base, files, by }` and adds the files to the base. */
export const additionSink = 'vector_store_additions'

/** Returns the message stored with what adds the files, so that all of them are added even after a crash. */
export const additionNotice = ({ base, files, by, request }: Additions): readonly Notice[] => {
  if (files.length === 0) return []
  const named = files.map(({ file_id, attributes = null, param }) => ({ file_id, attributes, param }))
  return [{ kind: 'message', to: additionSink, event: { type: 'add', base, files: named, by, request } }]
}

/**
 * Adds the files of additions that were not added yet. What is refused was refused to the caller too.
 */
export const storeAdditions =
  (storeFiles: StoreFiles): Sink =>
  async ({ project }, { id, event }) => {
    // messages of earlier releases do not name their request
    const { base, files, by, request = id } = storedAdditions(event)
    for (const each of files) {
      try {
        await storeFiles.addOnce(projectScope(project), { ...each, base, by, request })
      } catch (error) {
        if (!(error instanceof ServiceError) || error.isPassing) throw error
      }
    }
  }
