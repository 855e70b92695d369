import { getHeapStatistics } from 'node:v8'
import { afterEach, describe, expect, it } from 'vitest'
import type { Principal } from '#actors/call/call.ts'
import { imageIdsIn, UnclaimedImages, unclaimedImages } from '#actors/sessions/input/unclaimed-images.ts'
import { noAgent } from '#actors/sessions/turns/turn-plan.ts'
import { ServiceError } from '#specs/errors/errors.ts'
import { userScope } from '#storage/scope.ts'
import { png } from '#test/gateway/simulated/image-bytes.ts'
import { openMemoryStorage } from '#test/support/memory/open-memory-storage.ts'
import { wholeReach } from '#test/support/whole-reach.ts'
import { callOf, collect, newSession, openWorld, turn, type World, type WorldOptions } from '../harness.ts'

let world: World
afterEach(() => world.runtime.drain(0))

const picture = png(640, 480)
const url = (bytes: Buffer) => `data:image/png;base64,${bytes.toString('base64')}`
const image = { type: 'input_image', image_url: url(picture) }

const open = async (options: WorldOptions = {}) => {
  world = await openWorld(options)
  return newSession(world)
}

const blobs = () => world.storage.blobs.hashes('prj_a', null, 100)

type Turn = Parameters<World['useCases']['sessions.turns']>[0]

const refusal = async (body: Turn['body'], change: Partial<Turn>) => {
  world = await openWorld({ ...filesOf(picture), sessionAgent: noAgent })
  const session = (await world.useCases['sessions.create'](callOf({}, {}, { agent_id: 'agt_a', metadata: {} }))).id
  const call = { ...callOf({ session_id: session }, {}, body), ...change }
  const error: unknown = await world.useCases['sessions.turns'](call).then(
    async ({ stream }) => collect(stream),
    (thrown) => thrown,
  )
  return error instanceof ServiceError ? { code: error.code, param: error.details.param } : error
}

const filesOf = (bytes: Buffer, read = { bytes: 0 }): WorldOptions => ({
  files: () => ({
    find: async () => ({
      purpose: 'batch_output',
      tenant: null,
      content: async function* () {
        for (let at = 0; at < bytes.length; at += 1024 * 1024) {
          const piece = bytes.subarray(at, at + 1024 * 1024)
          read.bytes += piece.length
          yield piece
        }
      },
    }),
  }),
})

describe('hostile input of a turn', () => {
  it('is refused when it is longer than 1 MB without its images, however long these are', async () => {
    const long = 'x'.repeat(1024 * 1024)
    const large = url(Buffer.concat([picture, Buffer.alloc(2 * 1024 * 1024)]))
    const of = (body: Turn['body']) => refusal(body, { bytes: Buffer.from(JSON.stringify(body)) })
    const refused = { code: 'body_too_large', param: 'input' }
    expect(await of({ input: long })).toEqual(refused)
    expect(await of({ input: [{ type: 'input_text', text: long }, image] })).toEqual(refused)
    expect(await of({ input: [{ type: 'input_image', image_url: `https://example.com/${long}` }] })).toEqual(refused)
    expect(await of({ input: [image], instructions: long })).toEqual(refused)
    const shown = [
      { type: 'input_image', image_url: large },
      { type: 'image_url', image_url: { url: large } },
    ]
    expect(await of({ input: shown })).toMatchObject([{ event_type: 'turn.started' }, {}, {}])
  })

  it('names no file with a credential that browsers show', async () => {
    const key = { kind: 'agent_key', project: 'prj_a', agentId: 'agt_a', keyId: 'key_a', allowedDomains: [] } as const
    const by = (keyType: 'secret' | 'public') => {
      const principal: Principal = { ...key, keyType, reach: wholeReach }
      return refusal({ input: [{ type: 'input_image', file_id: 'file_a' }] }, { principal })
    }
    expect(await by('secret')).toMatchObject([{ event_type: 'turn.started' }, {}, {}])
    expect(await by('public')).toEqual({ code: 'not_found', param: 'input[0].file_id' })
  })

  it('reads no more of a file than an image may have', async () => {
    const read = { bytes: 0 }
    const session = await open(filesOf(Buffer.alloc(64 * 1024 * 1024), read))
    const named = { input: [{ type: 'input_image', file_id: 'file_a' }] }
    await expect(turn(world, session, named)).rejects.toMatchObject({ code: 'image_too_large' })
    expect(read.bytes).toBeLessThan(22 * 1024 * 1024)
  })

  it('reads few files at the same time, however many turns of few bytes name one', async () => {
    const reading = { now: 0, most: 0 }
    const find = async () => ({
      ...{ purpose: 'user_data', tenant: null },
      content: async function* () {
        reading.most = Math.max(reading.most, ++reading.now)
        await new Promise(setImmediate)
        yield picture
        reading.now--
      },
    })
    await open({ files: () => ({ find }), scripts: Array.from({ length: 100 }, () => ({ text: ['Yes.'] })) })
    const named = { input: [{ type: 'input_image', file_id: 'file_a' }] }
    const sessions = await Promise.all(Array.from({ length: 100 }, () => newSession(world)))
    const turns = await Promise.all(sessions.map((session) => turn(world, session, named)))
    expect(turns.map((events) => events.at(-1)?.event_type)).toEqual(turns.map(() => 'turn.completed'))
    expect(reading.most * 20 * 1024 * 1024).toBeLessThan(getHeapStatistics().heap_size_limit / 8)
  })

  it('has no more images than a model call shows, and none of a turn that is refused is kept', async () => {
    const session = await open(filesOf(Buffer.concat([picture, Buffer.alloc(13 * 1024 * 1024)])))
    const named = { type: 'input_image', file_id: 'file_a' }
    const error = await turn(world, session, { input: [named, named] }).catch((thrown) => thrown)
    expect(error).toMatchObject({ code: 'image_too_large', details: { param: 'input[1].file_id' } })
    expect(await blobs()).toEqual([])
  })

  it('refers to no image by its text', async () => {
    const session = await open()
    const id = `img_${'0'.repeat(26)}`
    const text = JSON.stringify({ image_id: id }).repeat(3)
    await turn(world, session, { input: [{ type: 'input_text', text }, image] })
    const log = await collect(world.host.feed.follow(session, 0, { at: 'idle' }))
    expect(imageIdsIn(log)).toEqual([(await blobs())[0]?.split('.').at(-1)])
    const { id: fork } = await world.useCases['sessions.fork'](callOf({ session_id: session }, {}, {}))
    expect(imageIdsIn(await collect(world.host.feed.follow(fork, 0, { at: 'idle' })))).toEqual(imageIdsIn(log))
  })
})

describe('images without a turn', () => {
  const died = new Error('the process died')
  const place = { actor: 'ses_fork', owner: { project: 'prj_a', tenant: 'ten_a', user: 'ada' }, after: 0 }
  const later = () => Date.now() + 2 * 60 * 60_000

  const leave = async (id: string) => {
    const name = `ten_a.ses_fork.image.${id}`
    const put = async () => {
      await world.storage.blobs.put('prj_a', name, picture)
      throw died
    }
    await expect(new UnclaimedImages(world.storage, Date.now).during([id], place, put)).rejects.toBe(died)
  }

  it('are removed although the records of their user were erased', async () => {
    await open()
    await leave('img_a')
    await world.storage.records.clear(unclaimedImages, userScope('prj_a', 'ten_a', 'ada'), 100)
    await new UnclaimedImages(world.storage, later).sweep()
    expect(await blobs()).toEqual([])
  })

  it('are removed although those of another session cannot be', async () => {
    const storage = openMemoryStorage()
    await open({ storage })
    await leave('img_a')
    await leave('img_b')
    const failing = Object.create(storage.blobs, {
      remove: {
        value: async (project: string, prefix: string) =>
          prefix.endsWith('img_a') ? Promise.reject(died) : storage.blobs.remove(project, prefix),
      },
    })
    const { commits, records } = storage
    await expect(new UnclaimedImages({ blobs: failing, commits, records }, later).sweep()).rejects.toBe(died)
    expect(await blobs()).toEqual([expect.stringContaining('img_a')])
  })
})
