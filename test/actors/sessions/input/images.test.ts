import { afterEach, describe, expect, it } from 'vitest'
import type { Principal } from '#actors/call/call.ts'
import { UnclaimedImages, unclaimedImages } from '#actors/sessions/input/unclaimed-images.ts'
import { ModelError } from '#gateway/call/provider-port.ts'
import { ServiceError } from '#specs/errors/errors.ts'
import { png } from '#test/gateway/simulated/image-bytes.ts'
import { secretOf } from '#test/support/call-of.ts'
import { openMemoryStorage } from '#test/support/memory/open-memory-storage.ts'
import { keyed } from '../approving.ts'
import {
  callOf,
  collect,
  newSession,
  openWorld,
  type Script,
  turn,
  typesOf,
  type World,
  type WorldOptions,
} from '../harness.ts'

let world: World
afterEach(() => world.runtime.drain(0))

const picture = png(640, 480)
const dataUrl = `data:image/png;base64,${picture.toString('base64')}`
const shown = { type: 'image_url', image_url: { url: dataUrl } }
const question = { type: 'input_text', text: 'What is this?' }
const image = { type: 'input_image', image_url: dataUrl }
const reference = {
  type: 'input_image',
  image_id: expect.stringMatching(/^img_/),
  mime_type: 'image/png',
  bytes: picture.length,
}

const ada: Principal = {
  ...{ kind: 'client_token', project: 'prj_a', tenant: 'ten_a', user: 'ada', sessionId: null },
  ...{ permissions: ['sessions:turn'], installationIds: [] },
}

const open = async (options: WorldOptions = {}, ...scripts: readonly Script[]) => {
  world = await openWorld({ ...options, scripts: [...scripts, { text: ['A square.'] }, { text: ['Yes.'] }] })
  return newSession(world)
}

const logOf = (session: string) => collect(world.host.feed.follow(session, 0, { at: 'idle' }))
const blobs = () => world.storage.blobs.hashes('prj_a', null, 100)
const messages = () => world.provider.requests.at(-1)?.messages

const refusal = async (session: string, input: readonly Readonly<Record<string, unknown>>[]) => {
  const error: unknown = await turn(world, session, { input: JSON.parse(JSON.stringify(input)) }).catch(
    (thrown) => thrown,
  )
  if (!(error instanceof ServiceError)) throw error
  return { code: error.code, param: error.details.param }
}

describe('images in the input of a turn', () => {
  it('reach the model, and the log has them by reference', async () => {
    const session = await open()
    await turn(world, session, { input: [question, image] })
    expect(messages()).toEqual([
      { role: 'user', content: 'What is this?', parts: [{ type: 'text', text: 'What is this?' }, shown] },
    ])
    const [started] = await logOf(session)
    expect(started?.payload).toMatchObject({ input_text: 'What is this?', input: [question, reference] })
    expect(JSON.stringify(await world.storage.commits.ofActor(session, 0, 10))).not.toContain('base64')
    await turn(world, session, { input: 'And now?' })
    expect(messages()?.[0]).toMatchObject({ parts: [{ type: 'text' }, shown] })
  })

  it('are taken in the parts of chat completions', async () => {
    const session = await open()
    await turn(world, session, {
      input: [
        { type: 'text', text: 'This?' },
        { type: 'image_url', image_url: { url: dataUrl, detail: 'low' } },
      ],
    })
    expect(messages()?.[0]).toMatchObject({
      parts: [
        { type: 'text', text: 'This?' },
        { type: 'image_url', image_url: { url: dataUrl, detail: 'low' } },
      ],
    })
  })

  it('are those of the retry of a turn that failed, in its first event and for the model, and are stored once', async () => {
    const fails = new ModelError('provider_error', 'The provider failed.')
    const session = await open({}, { text: ['Half'], fails })
    await turn(world, session, { input: [question, image] })
    const [started] = await turn(world, session, { retry_of: 1 })
    const input = [question, reference]
    expect(started?.payload).toMatchObject({ turn_number: 2, retry_of: 1, input_text: 'What is this?', input })
    expect(messages()).toMatchObject([{ role: 'user', parts: [{ type: 'text' }, shown] }])
    expect(await blobs()).toHaveLength(1)
  })

  it('sent again with their key are stored once, at the same time or later, and get the same turn', async () => {
    const session = await open()
    const call = keyed(callOf({ session_id: session }, {}, { input: [question, image] }), 'once')
    const answers = await Promise.all([1, 2, 3].map(() => world.useCases['sessions.turns'](call)))
    const streams = await Promise.all(answers.map(({ stream }) => collect(stream)))
    const late = await world.useCases['sessions.turns'](call)
    expect([late.replayed, ...answers.map(({ replayed }) => replayed)].filter(Boolean)).toHaveLength(3)
    for (const events of [...streams, await collect(late.stream)]) expect(events).toEqual(streams[0])
    await expect.poll(blobs).toHaveLength(1)
    expect(await world.storage.records.ofEveryProject(unclaimedImages, null, 10)).toEqual([])
    expect(world.provider.requests).toHaveLength(1)
  })

  it('of turns that are sent at the same time are those of the one that begins', async () => {
    const session = await open()
    const sent = await Promise.allSettled([1, 2, 3, 4].map(() => turn(world, session, { input: [image], tools: [] })))
    const begun = sent.filter(({ status }) => status === 'fulfilled')
    expect(begun.length).toBeGreaterThan(0)
    expect(await blobs()).toHaveLength(begun.length)
  })

  it('at an address are passed on by it, if that is public', async () => {
    const session = await open()
    const remote = { type: 'input_image', image_url: 'https://example.com/a.png' }
    await turn(world, session, { input: [remote] })
    expect(messages()).toEqual([
      { role: 'user', content: '', parts: [{ type: 'image_url', image_url: { url: 'https://example.com/a.png' } }] },
    ])
    for (const image_url of ['http://example.com/a.png', 'https://127.0.0.1/a.png', 'https://169.254.169.254/'])
      expect(await refusal(session, [{ type: 'input_image', image_url }])).toEqual({
        ...{ code: 'bad_request', param: 'input[0].image_url' },
      })
  })

  it('are refused with the place of the invalid one, and none is kept', async () => {
    const session = await open()
    const svg = `data:image/png;base64,${Buffer.from('<svg onload="x"/>').toString('base64')}`
    const large = Buffer.concat([picture, Buffer.alloc(20 * 1024 * 1024)]).toString('base64')
    const at = { param: 'input[1].image_url' }
    const second = (image_url: string) => refusal(session, [image, { type: 'input_image', image_url }])
    expect(await second(svg)).toEqual({ ...at, code: 'unsupported_format' })
    expect(await second(`data:image/png;base64,${large}`)).toEqual({ ...at, code: 'image_too_large' })
    expect(await second('data:image/png;base64,!!!!')).toEqual({ ...at, code: 'bad_request' })
    expect(await second(dataUrl.replace('png', 'gif'))).toEqual({ ...at, code: 'bad_request' })
    expect(await refusal(session, [image, { type: 'input_image' }])).toEqual({ ...at, code: 'bad_request' })
    expect(await refusal(session, [{ type: 'audio' }])).toEqual({ code: 'invalid_field', param: 'input[0].type' })
    expect(await refusal(session, [{ type: 'input_file', file_id: 'file_a' }])).toEqual({
      ...{ code: 'bad_request', param: 'input[0]' },
    })
    const sharp = { type: 'image_url', image_url: { url: dataUrl, detail: 'sharp' } }
    expect(await refusal(session, [sharp])).toEqual({ code: 'invalid_field', param: 'input[0].image_url.detail' })
    expect(await refusal(session, [{ type: 'input_text' }])).toEqual({ code: 'missing_field', param: 'input[0].text' })
    expect(await blobs()).toEqual([])
  })

  it('of a turn that is refused are removed, and only those', async () => {
    const gate = Promise.withResolvers<void>()
    const session = await open({}, { text: [gate.promise, 'late'] })
    await world.useCases['sessions.turns'](callOf({ session_id: session }, {}, { input: [image] }))
    const before = await blobs()
    expect(before).toHaveLength(1)
    expect(await refusal(session, [image])).toMatchObject({ code: 'turn_in_progress' })
    expect(await blobs()).toEqual(before)
    gate.resolve()
    await logOf(session)
  })

  it('are those of a file of the project, not of a tenant that the session is not of', async () => {
    const files = (tenant: string | null) => ({
      purpose: 'user_data',
      tenant,
      content: async function* () {
        yield picture.subarray(0, 20)
        yield picture.subarray(20)
      },
    })
    const known = new Map([
      ['file_own', files(null)],
      ['file_foreign', files('ten_other')],
    ])
    const session = await open({ files: () => ({ find: async (_scope, id) => known.get(id) ?? null }) })
    await turn(world, session, { input: [{ type: 'input_image', file_id: 'file_own' }] })
    expect(messages()?.[0]).toMatchObject({ parts: [shown] })
    expect((await logOf(session))[0]?.payload).toMatchObject({
      input: [{ file_id: 'file_own', mime_type: 'image/png' }],
    })
    for (const file_id of ['file_foreign', 'file_unknown'])
      expect(await refusal(session, [{ type: 'input_image', file_id }])).toEqual({
        ...{ code: 'not_found', param: 'input[0].file_id' },
      })
  })

  it('are in the messages of the session by reference', async () => {
    const session = await open()
    await turn(world, session, { input: [question, image] })
    const query = { limit: 10 }
    const { data } = await world.useCases['sessions.messages'](callOf({ session_id: session }, query, undefined))
    expect(data[0]?.parts).toEqual([
      { type: 'text', text: 'What is this?' },
      { ...reference, type: 'image' },
    ])
  })

  it('stay those of a fork when the session is deleted, and are removed with each', async () => {
    const session = await open()
    await turn(world, session, { input: [question, image] })
    const { id } = await world.useCases['sessions.fork'](callOf({ session_id: session }, {}, {}))
    await world.useCases['sessions.delete'](callOf({ session_id: session }, {}, undefined))
    await expect.poll(async () => (await blobs()).filter((name) => name.startsWith(session))).toEqual([])
    await turn(world, id, { input: 'And now?' })
    expect(messages()?.[0]).toMatchObject({ parts: [{ type: 'text' }, shown] })
    await world.useCases['sessions.delete'](callOf({ session_id: id }, {}, undefined))
    await expect.poll(blobs).toEqual([])
  })

  it('are shown to a model call after a restart, and the oldest are left out of long requests', async () => {
    const storage = openMemoryStorage()
    const session = await open({ storage })
    const large = Buffer.concat([picture, Buffer.alloc(15 * 1024 * 1024)]).toString('base64')
    for (const image_url of [`data:image/png;base64,${large}`, dataUrl])
      await turn(world, session, { input: [{ type: 'input_image', image_url }] })
    await world.runtime.drain(0)
    world = await openWorld({ storage, scripts: [{ text: ['Again.'] }] })
    await turn(world, session, { input: [{ type: 'input_image', image_url: `data:image/png;base64,${large}` }] })
    const sent = (messages() ?? []).flatMap((message) => ('parts' in message ? (message.parts ?? []) : []))
    expect(sent).toMatchObject([
      { type: 'text', text: expect.stringContaining('not shown') },
      shown,
      { type: 'image_url' },
    ])
  })

  it('larger than the providers of the model take are refused with that limit, and earlier ones are left out', async () => {
    const [taken, limit] = [picture.length, picture.length - 1]
    const session = await open({ maxImageBytes: (model) => (model === 'small' ? limit : taken) })
    await turn(world, session, { input: [image] })
    const error = await turn(world, session, { input: [question, image], model: 'small' }).catch((thrown) => thrown)
    expect(error).toMatchObject({
      ...{ code: 'image_too_large', details: { param: 'input[1].image_url' } },
      message: `input[1].image_url has ${taken} bytes; this provider accepts at most ${limit}.`,
    })
    await turn(world, session, { input: 'And now?', model: 'small' })
    expect(messages()?.[0]).toMatchObject({ parts: [{ type: 'text', text: expect.stringContaining('not shown') }] })
  })

  it('of a process that died before the turn began are removed later, and those of a turn stay', async () => {
    const died = new Error('the process died')
    const find = async () => Promise.reject(died)
    const session = await open({ files: () => ({ find }) })
    await turn(world, session, { input: [image] })
    const [kept] = await blobs()
    const dying = turn(world, session, { input: [image, { type: 'input_image', file_id: 'file_a' }] })
    await expect(dying).rejects.toBe(died)
    expect(await blobs()).toHaveLength(2)
    const images = [kept?.split('.').at(-1) ?? '']
    for (const actor of [session, 'ses_fork']) {
      const place = { actor, owner: { project: 'prj_a', tenant: null, user: null }, after: 0 }
      await expect(new UnclaimedImages(world.storage, Date.now).during(images, place, find)).rejects.toBe(died)
    }
    expect(await world.storage.records.ofEveryProject(unclaimedImages, null, 10)).toHaveLength(3)
    await new UnclaimedImages(world.storage, Date.now).sweep()
    expect(await blobs()).toHaveLength(2)
    await new UnclaimedImages(world.storage, () => Date.now() + 2 * 60 * 60_000).sweep()
    expect(await blobs()).toEqual([kept])
    expect(await world.storage.records.ofEveryProject(unclaimedImages, null, 10)).toEqual([])
  })

  it('are refused until every process of the installation knows them, and texts are not', async () => {
    const session = await open({ isUpgraded: false })
    expect(await refusal(session, [question, image])).toEqual({ code: 'overloaded', param: 'input' })
    expect(await blobs()).toEqual([])
    expect(typesOf(await turn(world, session, { input: [question] })).at(-1)).toBe('turn.completed')
  })

  it('are returned to those who read the session, with the type of their bytes', async () => {
    const session = await open()
    await turn(world, session, { input: [image] })
    const id = (await blobs())[0]?.split('.').at(-1) ?? ''
    const get = (params: Readonly<Record<'session_id' | 'image_id', string>>, principal?: Principal) =>
      world.useCases['sessions.image'](callOf(params, {}, undefined, principal))
    expect(await get({ session_id: session, image_id: id })).toEqual({ contentType: 'image/png', bytes: picture })
    for (const principal of [secretOf('prj_b'), ada])
      await expect(get({ session_id: session, image_id: id }, principal)).rejects.toMatchObject({ code: 'not_found' })
    const other = await newSession(world)
    for (const image_id of [id, 'img_', '', `../${id}`])
      await expect(get({ session_id: other, image_id })).rejects.toMatchObject({ code: 'not_found' })
    await world.useCases['sessions.delete'](callOf({ session_id: session }, {}, undefined))
    await expect(get({ session_id: session, image_id: id })).rejects.toMatchObject({ code: 'not_found' })
  })
})
