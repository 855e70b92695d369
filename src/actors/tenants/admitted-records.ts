import { boundRecords } from '#records/bound-records.ts'
import type { RecordStore, Scope, StoredRecord } from '#storage/index.ts'
import type { AdmitWork } from './tenant-directory.ts'

/**
 * Returns a store that refuses to read a record for work (`workScope`) while its tenant may not be served. Use-cases read
 * what they change first: a record that a request names by its own id is therefore refused like one of a tenant that it
 * names, before anything is stored (specs/decisions/0074). Lists and reads of several records are not checked.
 */
export const admittedRecords = (records: RecordStore, admitWork: AdmitWork): RecordStore => {
  const admitted = async (scope: Scope, record: StoredRecord | null): Promise<StoredRecord | null> => {
    if (record !== null) await admitWork(scope, record)
    return record
  }
  return {
    ...boundRecords(records),
    get: async (kind, scope, id) => admitted(scope, await records.get(kind, scope, id)),
    find: async (kind, scope, key) => admitted(scope, await records.find(kind, scope, key)),
  }
}
