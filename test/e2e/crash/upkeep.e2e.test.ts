import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Api } from '../api.ts'
import { endsTurn } from '../stream-reader.ts'
import { World } from '../world.ts'

let world: World
let owner: Api

beforeAll(async () => {
  // on SQLite the end of a stream removes its parts itself: nothing waits
  world = await World.start({ store: 'mongo' })
  owner = await world.dashboard()
})
afterAll(() => world.stop())

const taskOf = async (api: Api) => (await api.get('/api/upkeep')).body.data[0]

it('upkeep shows operators the number of sessions that wait for compaction', async () => {
  const session = await world.api.createSession()
  await (await world.api.turn(session, { input: 'slow please' })).until(endsTurn)
  await expect.poll(async () => (await taskOf(owner)).waiting).toBe(1)
  expect(await taskOf(owner)).toMatchObject({ id: 'compaction', paused: false, paused_by: null, merged: 0, removed: 0 })
})

it('upkeep is paused and resumed by an owner', async () => {
  expect((await owner.post('/api/upkeep/compaction/pause', {})).body).toMatchObject({ paused: true })
  const { paused_at, paused_by } = await taskOf(owner)
  expect((await owner.post('/api/upkeep/compaction/pause', {})).body).toMatchObject({ paused_at, paused_by })
  expect((await owner.post('/api/upkeep/compaction/resume', {})).body).toMatchObject({ paused: false, paused_at: null })
})

it('upkeep stays paused after a crash', async () => {
  const crashing = await World.start({ ownProcess: true })
  try {
    await (await crashing.dashboard()).post('/api/upkeep/compaction/pause', {})
    await crashing.crash()
    await crashing.restart()
    expect(await taskOf(await crashing.dashboard())).toMatchObject({ paused: true })
  } finally {
    await crashing.stop()
  }
})

it('upkeep is paused by owners only: a secret key is refused, and an admin may only read it', async () => {
  expect((await world.api.post('/api/upkeep/compaction/pause', {})).status).toBe(403)
  const project = (await owner.get('/api/projects')).body.data[0].id
  const password = randomBytes(16).toString('base64url')
  const email = 'admin@example.com'
  await owner.post(`/api/projects/${project}/members`, { email, password, role: 'admin' })
  const admin = await world.dashboard(email, password)
  expect((await admin.get('/api/upkeep')).status).toBe(200)
  expect((await admin.post('/api/upkeep/compaction/pause', {})).status).toBe(403)
  expect((await owner.post('/api/upkeep/unknown/pause', {})).status).toBe(404)
})

it('retention keeps everything unless it is configured', async () => {
  const path = '/v1/retention-settings'
  const forGood = { sessions_days: null, runs_days: null, actions_days: null, applied_at: null }
  expect((await world.api.get(path)).body).toEqual(forGood)
  const put = await world.api.fetch(path, { sessions_days: 30 }, { method: 'PUT' })
  expect(await put.json()).toEqual({ ...forGood, sessions_days: 30 })
  expect((await world.api.get(path)).body).toEqual({ ...forGood, sessions_days: 30 })
  expect((await world.api.fetch(path, { sessions_days: 0 }, { method: 'PUT' })).status).toBe(422)
  expect((await owner.get('/api/upkeep')).body.data).toMatchObject([
    { id: 'compaction' },
    { id: 'retention', removed: 0 },
  ])
})
