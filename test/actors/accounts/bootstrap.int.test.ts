import { randomBytes } from 'node:crypto'
import { MongoClient } from 'mongodb'
import { afterAll, expect, it } from 'vitest'
import { bootstrap } from '#actors/accounts/bootstrap.ts'
import { authKinds, members, organizations, projectKeys, projects } from '#actors/accounts/kinds.ts'
import { openAuth } from '#actors/accounts/open-auth.ts'
import { activeInstallations } from '#actors/agents/active-installations.ts'
import { agentReaches } from '#actors/agents/agent-reaches.ts'
import { keysOf } from '#records/sealing/server-keys.ts'
import { organizationScope, projectScope } from '#storage/scope.ts'
import { openSecretBox } from '#storage/secrets.ts'
import { openPatientMongo } from '#test/storage/mongo-patience.ts'

const url = process.env.MONGODB_URL ?? ''
const database = `bootstrap_${randomBytes(6).toString('hex')}`

afterAll(async () => {
  const client = await MongoClient.connect(url)
  await client.db(database).dropDatabase()
  await client.close()
})

const masterKey = Buffer.alloc(32, 1)

const startOn = async () => {
  const storage = await openPatientMongo({ url, database })
  await storage.records.prepare(authKinds)
  const auth = openAuth({
    records: storage.records,
    reachOfAgent: agentReaches({ records: storage.records, now: Date.now }),
    activeInstallations: activeInstallations({ records: storage.records, now: Date.now }),
    keys: keysOf({ masterKey }),
    box: openSecretBox({ masterKey }),
    now: Date.now,
  })
  const given = { secretKey: null, ownerEmail: null, ownerPassword: null }
  const made = await bootstrap({ records: storage.records, ...auth, given, now: Date.now })
  return { storage, auth, made }
}

it('creates one organisation, project, owner and key if five processes start at once on an empty MongoDB', async () => {
  const started = await Promise.all(Array.from({ length: 5 }, startOn))
  const [first] = started
  if (!first) throw new Error('nothing started')
  const { records } = first.storage
  const { organization, project } = first.made
  expect(new Set(started.map(({ made }) => `${made.organization} ${made.project}`)).size).toBe(1)
  expect([
    await records.count(organizations, organizationScope(organization)),
    await records.count(projects, organizationScope(organization)),
    await records.count(members, organizationScope(organization)),
    await records.count(projectKeys, projectScope(project)),
  ]).toEqual([1, 1, 1, 1])
  const secrets = started.flatMap(({ made }) => made.generated?.secretKey ?? [])
  expect(secrets).toHaveLength(1)
  for (const { auth } of started) expect(await auth.apiKeys.verify(secrets[0] ?? '')).toMatchObject({ project })
  await Promise.all(started.map(({ storage }) => storage.close()))
})
