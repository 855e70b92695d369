import { MongoClient } from 'mongodb'
import { mongodSpec } from './mongod.ts'
import { freePort, type Service, startService } from './service.ts'

/** A replica set of several mongods on this machine. */
export interface ReplicaSet {
  /** Connection URL with all members. */
  readonly url: string
  /** Kills the primary, like a crash; the others elect a new one. Does nothing while a member is down. */
  killPrimary(): Promise<void>
  /** Restarts the killed member. */
  restart(): Promise<void>
  stop(): Promise<void>
}

const setName = 'rs3'
/**
 * Time in ms after which the others notice that the primary is gone; the server's default of 10 s is for wide-area
 * networks.
 */
const electionTimeoutMillis = 2000

/** Starts `count` mongods and resolves when they have a primary. */
export const startReplicaSet = async (count: number): Promise<ReplicaSet> => {
  const members: Service[] = []
  for (let at = 0; at < count; at++) members.push(await startService(mongodSpec(setName), await freePort()))
  const hosts = members.map(({ port }) => `127.0.0.1:${port}`)
  const url = `mongodb://${hosts.join(',')}/?replicaSet=${setName}`
  await initiate(hosts)
  const client = await MongoClient.connect(url, { serverSelectionTimeoutMS: 60_000 })
  await client.db('admin').command({ ping: 1 })
  let down: number | null = null
  return {
    url,
    killPrimary: async () => {
      if (down !== null) return
      const { primary } = await client.db('admin').command({ hello: 1 })
      down = hosts.indexOf(String(primary))
      await members[down]?.kill9()
    },
    restart: async () => {
      const member = down === null ? undefined : members[down]
      if (down !== null && member !== undefined) members[down] = await member.restart()
      down = null
    },
    stop: async () => {
      await client.close()
      await Promise.all(members.map((member) => member.stop()))
    },
  }
}

const initiate = async (hosts: readonly string[]): Promise<void> => {
  const client = await MongoClient.connect(`mongodb://${hosts[0]}/?directConnection=true`)
  const members = hosts.map((host, _id) => ({ _id, host }))
  await client.db('admin').command({ replSetInitiate: { _id: setName, members, settings: { electionTimeoutMillis } } })
  await client.close()
}
