import { spawn } from 'node:child_process'
import { randomBytes, randomInt } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { MongoClient } from 'mongodb'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { skills, skillVersions } from '#actors/skills/kinds.ts'
import { SkillVersions } from '#actors/skills/skill-versions.ts'
import { compareVersions } from '#records/semver.ts'
import { openStorage } from '#src/open-storage.ts'
import type { Storage } from '#storage/ports.ts'
import { projectScope } from '#storage/scope.ts'
import { atNight, drawnOf } from '#test/setup/at-night.ts'
import { fromKeptSources } from '#test/start/from-kept-sources.ts'

/** 50 each night, as EVERY_STORE says; a few for every change. */
const kills = !atNight ? 8 : 50
const maxSteps = 24
const scope = projectScope('prj_kills')
const server = process.env.MONGODB_URL ?? 'mongodb://127.0.0.1:27017/'
const folder = mkdtempSync(join(tmpdir(), 'troupe-kills-'))
const database = `kills_${randomBytes(6).toString('hex')}`

afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** Runs the publisher until it has done a random number of steps and kills it; returns the acknowledged ones. */
const killed = async (mongodbUrl: string): Promise<readonly string[]> => {
  const script = join(import.meta.dirname, 'publisher.ts')
  const args = [...fromKeptSources, script, folder, mongodbUrl]
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
  const last = randomInt(1, maxSteps)
  const acknowledged: string[] = []
  for await (const line of createInterface({ input: child.stdout })) {
    acknowledged.push(line)
    // it goes on while the line and the signal travel, so it dies somewhere within a later step
    if (acknowledged.length === last) child.kill('SIGKILL')
  }
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
  return acknowledged
}

/** Returns what is half done: acknowledged steps without effect, and a latest version that is not the highest. */
const halfDone = async ({ records }: Storage, acknowledged: ReadonlySet<string>): Promise<readonly string[]> => {
  await records.prepare([skills, skillVersions])
  const versions = new SkillVersions(records, Date.now)
  const rows = await versions.table.list(scope, { limit: 1000 })
  const lost = [...acknowledged].filter((line) => {
    const [step, version] = line.split(' ')
    const status = rows.find(({ data }) => data.version === version)?.data.status
    return status !== step && !(step === 'published' && status === 'deprecated')
  })
  const [highest] = rows
    .filter(({ data }) => data.status === 'published')
    .map(({ data }) => data.version)
    .sort((a, b) => compareVersions(b, a))
  const used = await versions.resolve('prj_kills', { skillId: 'skl_killed', version: null })
  return used?.data.version === highest ? lost : [...lost, `${highest} is published, ${used?.data.version} is used`]
}

describe.each(drawnOf(['sqlite', 'mongo'], 2))('a skill on %s', (store) => {
  const mongodbUrl = store === 'sqlite' ? '' : server.replace(/^(\w+:\/\/[^/?]+)\/?[^?]*/, `$1/${database}`)
  let storage: Storage

  beforeAll(async () => {
    storage = await openStorage({ dataDir: folder, mongodbUrl: mongodbUrl === '' ? null : mongodbUrl })
  })
  afterAll(async () => {
    await storage.close()
    if (store === 'sqlite') return
    const client = new MongoClient(server)
    await client.db(database).dropDatabase()
    await client.close()
  })

  it('is used in its highest published version, whenever its publisher is killed', async () => {
    const acknowledged = new Set<string>()
    const found: string[] = []
    for (let kill = 0; kill < kills; kill += 1) {
      for (const line of await killed(mongodbUrl)) acknowledged.add(line)
      found.push(...(await halfDone(storage, acknowledged)))
    }
    console.log(`${store}: ${kills} kills, ${acknowledged.size} acknowledged steps, ${found.length} half done`)
    expect(found).toEqual([])
  }, 600_000)
})
