import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { png } from '#test/gateway/simulated/image-bytes.ts'
import { endsTurn, isDelta } from '../stream-reader.ts'
import { drawnStores, World } from '../world.ts'

const picture = png(640, 480)
const urlOf = (bytes: Buffer) => `data:image/png;base64,${bytes.toString('base64')}`
const image = { type: 'input_image', image_url: urlOf(picture) }
const about = 'Image 1 is a PNG of 640 × 480 pixels.'

describe.each(drawnStores)('images in the turns of a session on $store', ({ store }) => {
  let world: World
  beforeAll(async () => {
    world = await World.start({ store })
  })
  afterAll(() => world.stop())

  const upload = async (tenant: string | null): Promise<string> => {
    const form = new FormData()
    form.set('purpose', 'user_data')
    form.set('file', new Blob([picture]), 'picture.png')
    const headers = { authorization: `Bearer ${world.secretKey}`, ...(tenant !== null && { 'x-tenant-id': tenant }) }
    const answer = await fetch(`${world.url}/v1/files`, { method: 'POST', headers, body: form })
    return Object(await answer.json()).id
  }

  it('are shown to the model again after kill -9 in the middle of its answer', async () => {
    const session = await world.api.createSession()
    const turn = await world.api.turn(session, { input: [{ type: 'input_text', text: 'slow please' }, image] })
    await turn.until((frame) => isDelta(frame) && turn.frames.filter(isDelta).length >= 3)
    await world.crash()
    expect(await turn.ended).toBe('broken')
    await world.restart()
    const stream = await world.api.follow(session, turn.frames.at(-1)?.id ?? '0', { restarts: 'true' })
    const end = await stream.until(endsTurn)
    stream.stop()
    expect(end).toMatchObject({ event: 'turn.completed', data: { output: expect.stringContaining(about) } })
    const log = await world.api.log(session)
    expect(log[0]?.payload).toMatchObject({
      input: [{ type: 'input_text' }, { type: 'input_image', mime_type: 'image/png', bytes: picture.length }],
    })
    expect(JSON.stringify(log)).not.toContain('base64')
  })

  it('are taken from files of the project, and those of others are not found', async () => {
    const session = await world.api.createSession()
    const of = async (api: typeof world.api, id: string, file_id: string) =>
      api.post(`/v1/sessions/${id}/turns`, { input: [{ type: 'input_image', file_id }] })
    const own = await world.api.turn(session, { input: [{ type: 'input_image', file_id: await upload(null) }] })
    expect((await own.all()).at(-1)?.data.output).toContain(about)
    const missing = await of(world.api, session, `file_${'0'.repeat(26)}`)
    expect(missing).toMatchObject({ status: 404, body: { error: { code: 'not_found', param: 'input[0].file_id' } } })
    const tenant = (await world.api.post('/v1/tenants', { external_id: 'acme', name: 'Acme' })).body.id
    const { token } = (await world.api.post('/v1/client-tokens', { tenant_id: tenant, external_user_id: 'ada' })).body
    const page = world.as(token)
    expect(await of(page, await page.createSession(), await upload(null))).toMatchObject({ status: 404 })
    const theirs = await page.turn(await page.createSession(), { input: [image] })
    expect((await theirs.all()).at(-1)?.data.output).toContain(about)
  })

  it('of hostile bytes are refused, and the session takes further turns', async () => {
    const session = await world.api.createSession()
    const bytes = Buffer.from('%PDF-1.7 <svg/>')
    const refused = await world.api.post(`/v1/sessions/${session}/turns`, {
      input: [{ type: 'input_image', image_url: urlOf(bytes) }],
    })
    expect(refused).toMatchObject({
      status: 400,
      body: { error: { code: 'unsupported_format', param: 'input[0].image_url' } },
    })
    const next = await world.api.turn(session, { input: 'hello' })
    expect((await next.all()).at(-1)).toMatchObject({ event: 'turn.completed', data: { turn_number: 1 } })
  })
})
