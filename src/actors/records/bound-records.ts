import type { RecordStore } from '#storage/index.ts'

/** Returns a store's methods as a plain object, so that single methods can be replaced. */
export const boundRecords = (records: RecordStore): RecordStore => ({
  prepare: (kinds) => records.prepare(kinds),
  get: (kind, scope, id) => records.get(kind, scope, id),
  getMany: (kind, scope, ids) => records.getMany(kind, scope, ids),
  find: (kind, scope, key) => records.find(kind, scope, key),
  findGlobal: (kind, key) => records.findGlobal(kind, key),
  insert: (kind, record) => records.insert(kind, record),
  insertMany: (kind, many) => records.insertMany(kind, many),
  replace: (kind, record) => records.replace(kind, record),
  remove: (kind, scope, id) => records.remove(kind, scope, id),
  list: (kind, scope, query) => records.list(kind, scope, query),
  count: (kind, scope, where) => records.count(kind, scope, where),
  total: (kind, scope, where) => records.total(kind, scope, where),
  project: (rows) => records.project(rows),
  openOutboxes: (kind, after, limit) => records.openOutboxes(kind, after, limit),
  withOpenOutboxes: (kinds) => records.withOpenOutboxes(kinds),
  ofEveryProject: (kind, after, limit) => records.ofEveryProject(kind, after, limit),
  due: (kind, at, limit) => records.due(kind, at, limit),
  closeOutbox: (kind, record) => records.closeOutbox(kind, record),
  clear: (kind, scope, limit) => records.clear(kind, scope, limit),
  left: (kind, scope) => records.left(kind, scope),
  sweep: (kind, now, limit) => records.sweep(kind, now, limit),
})
