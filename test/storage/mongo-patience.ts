import { openMongoStorage } from '#storage/mongo/open-mongo-storage.ts'

/** A store that waits for its server as long as a machine may stand still; for tests of all but how soon a server is given up. */
export const openPatientMongo = (options: Parameters<typeof openMongoStorage>[0]) =>
  openMongoStorage({ ...options, patienceMs: 60_000 })
