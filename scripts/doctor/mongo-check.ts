import { type Db, type Document, MongoClient } from 'mongodb'
import { databaseOf } from '#src/open-storage.ts'
import { type Finding, failed, ok, reasonOf, warning } from './finding.ts'
import { networkTimeoutMs } from './tcp.ts'

const oldest = [4, 4] as const
/** Maximum clock difference in ms. A larger one makes leases of several nodes unsafe to read, and reminders late. */
const maxSkewMs = 1_000

/**
 * Checks that MongoDB answers, is new enough, acknowledges writes by a majority, and has the same time as this machine.
 */
export const checkMongo = async (url: string): Promise<readonly Finding[]> => {
  const timeouts = { serverSelectionTimeoutMS: networkTimeoutMs, connectTimeoutMS: networkTimeoutMs }
  try {
    const client = new MongoClient(url, { ...timeouts, appName: 'troupe-doctor' })
    try {
      return await examine(client.db(databaseOf(url)))
    } finally {
      await client.close()
    }
  } catch (error) {
    const advice = 'Is it running, and is MONGODB_URL correct? The server does not start without it.'
    return [failed('mongodb', `does not answer: ${reasonOf(error)}`, advice)]
  }
}

const examine = async (db: Db): Promise<readonly Finding[]> => {
  const before = Date.now()
  const hello = await db.command({ hello: 1 })
  const after = Date.now()
  const { version } = await db.admin().command({ buildInfo: 1 })
  return [versionFound(String(version), hello), await checkWrites(db), skewFound(hello, before, after)]
}

const versionFound = (version: string, hello: Document): Finding => {
  const [major = 0, minor = 0] = version.split('.').map(Number)
  if (major < oldest[0] || (major === oldest[0] && minor < oldest[1])) {
    return failed('mongodb', `version ${version}`, 'Use 4.4 or newer.')
  }
  if (typeof hello.setName === 'string') return ok('mongodb', `version ${version}, replica set ${hello.setName}`)
  if (hello.msg === 'isdbgrid') return ok('mongodb', `version ${version}, sharded`)
  return warning(
    'mongodb',
    `version ${version}, a single server`,
    'Use a replica set in production: a single server is unavailable while it restarts.',
  )
}

const checkWrites = async (db: Db): Promise<Finding> => {
  const probes = db.collection<{ _id: string }>('doctor')
  const writeConcern = { w: 'majority', j: true, wtimeoutMS: networkTimeoutMs } as const
  try {
    await probes.insertOne({ _id: `${process.pid}.${Date.now()}` }, { writeConcern })
    await probes.drop()
    return ok('mongodb writes', 'acknowledged by a majority, with journal')
  } catch (error) {
    const advice = 'Every write requires this. Are most members running, and may this user write?'
    return failed('mongodb writes', `not acknowledged by a majority: ${reasonOf(error)}`, advice)
  }
}

/** @param before,after this machine's time before and after the request; the server took its time in between. */
export const skewFound = ({ localTime }: Document, before: number, after: number): Finding => {
  if (!(localTime instanceof Date)) return warning('clock', 'the server does not report its time', 'Check it manually.')
  const theirs = localTime.getTime()
  const skewMs = theirs < before ? theirs - before : Math.max(0, theirs - after)
  if (Math.abs(skewMs) <= maxSkewMs) return ok('clock', 'is MongoDB’s')
  const says = `${Math.abs(skewMs)} ms ${skewMs < 0 ? 'ahead of' : 'behind'} MongoDB’s`
  return warning('clock', says, 'Run NTP (chrony, systemd-timesyncd) on both machines.')
}
