import { openMongoStorage } from '#storage/mongo/open-mongo-storage.ts'

/** A store that waits for its server as long as a machine may pause; for all tests except those of outages. */
export const openPatientMongo = (options: Parameters<typeof openMongoStorage>[0]) =>
  openMongoStorage({ ...options, patienceMs: 60_000 })
