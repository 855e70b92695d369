import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { imagePart } from '#client/images.ts'
import { Troupe } from '#client/index.ts'
import { scriptedServer } from '#client/test/index.ts'
import { World } from '#test/e2e/world.ts'
import { png } from '#test/gateway/simulated/image-bytes.ts'

let world: World
beforeAll(async () => {
  world = await World.start()
})
afterAll(() => world.stop())

const picture = png(640, 480)
const dataUrl = `data:image/png;base64,${picture.toString('base64')}`
const question = { type: 'input_text', text: 'What is this?' } as const

const open = (id: string | null = null) => new Troupe({ baseUrl: world.url, key: world.secretKey }).sessions.open(id)

describe('images of a session', () => {
  it('are shown at once, reach the model, and are read by their ids', async () => {
    const session = open()
    const part = await imagePart(new File([picture], 'picture.png'), { detail: 'low' })
    const sent = session.send([question, part])
    const image = { type: 'image', image_url: dataUrl, detail: 'low' }
    const shown = session.getSnapshot().messages[0]
    expect(shown).toMatchObject({ status: 'sending', parts: [{ type: 'text', text: question.text }, image] })
    expect((await sent).text).toContain('Image 1 is a PNG of 640 × 480 pixels.')
    const [message] = session.getSnapshot().messages
    expect(message).toMatchObject({ id: shown?.id, status: 'completed', parts: [{ text: question.text }, {}] })
    const stored = message?.parts[1]
    expect(stored).toMatchObject({ type: 'image', mime_type: 'image/png', bytes: picture.length, detail: 'low' })
    const read = await session.image(stored?.type === 'image' ? `${stored.image_id}` : '')
    expect(read.type).toBe('image/png')
    expect(Buffer.from(await read.arrayBuffer()).equals(picture)).toBe(true)
  })

  it('make a message without text, also for a client that opens the session later', async () => {
    const session = open()
    const { text } = await session.send([await imagePart(picture)])
    expect(text).toContain('640 × 480')
    const later = open(session.id)
    const stop = later.subscribe(() => {})
    await expect.poll(() => later.getSnapshot().messages.length).toBe(2)
    stop()
    expect(later.getSnapshot().messages[0]?.parts).toMatchObject([{ type: 'image', mime_type: 'image/png' }])
    expect(session.getSnapshot().messages).toHaveLength(2)
  })

  it('are taken back if the server refuses them, and the error names the part', async () => {
    const session = open()
    const sent = session.send([question, await imagePart(`file_${'0'.repeat(26)}`)])
    await expect(sent).rejects.toMatchObject({ code: 'not_found', param: 'input[1].file_id' })
    expect(session.getSnapshot().messages).toEqual([])
  })
})

describe('the part of an image', () => {
  it.each([
    { of: 'bytes', source: picture, part: { image_url: dataUrl } },
    { of: 'a blob of another type', source: new Blob([picture], { type: 'text/plain' }), part: { image_url: dataUrl } },
    {
      of: 'an address',
      source: new URL('https://example.com/a.png'),
      part: { image_url: 'https://example.com/a.png' },
    },
    { of: 'a data URL', source: dataUrl, part: { image_url: dataUrl } },
    { of: 'a stored file', source: 'file_01', part: { file_id: 'file_01' } },
  ])('is made of $of', async ({ source, part }) => {
    expect(await imagePart(source)).toEqual({ type: 'input_image', ...part })
  })

  it.each([
    {
      of: 'a document',
      source: new File(['%PDF-1.7'], 'terms.pdf', { type: 'image/png' }),
      says: /^terms\.pdf is no image/,
    },
    { of: 'nothing', source: new Uint8Array(), says: /^This is no image/ },
    {
      of: 'an address without TLS',
      source: 'http://example.com/a.png',
      says: /^http:\/\/example\.com\/a\.png is neither/,
    },
  ])('is refused of $of', async ({ source, says }) => {
    const refusal = { code: 'unsupported_format', message: expect.stringMatching(says) }
    await expect(imagePart(source)).rejects.toMatchObject(refusal)
  })

  it('is what a scripted server shows', async () => {
    const troupe = new Troupe({ baseUrl: 'http://test', key: 'test', fetch: scriptedServer().fetch })
    const session = troupe.sessions.open()
    expect(await session.send([question, await imagePart(picture)])).toMatchObject({ text: question.text })
    const parts = [{ type: 'text' }, { type: 'image', image_url: dataUrl }]
    expect(session.getSnapshot().messages[0]).toMatchObject({ status: 'completed', parts })
  })
})

describe('a request with a large body', () => {
  it('is sent once while its upload takes longer than an answer may', async () => {
    let requests = 0
    const server = createServer((request, response) => {
      requests++
      // what arrives is read later, as on a slow line
      setTimeout(() => request.resume().on('end', () => response.end('{}')), 1000)
    })
    await once(server.listen(0, '127.0.0.1'), 'listening')
    const { port }: Pick<AddressInfo, 'port'> = Object(server.address())
    const troupe = new Troupe({ baseUrl: `http://127.0.0.1:${port}`, key: 'csk_test' })
    const body = { input: 'x'.repeat(4 * 1024 * 1024) }
    await troupe.request('POST', '/v1/sessions/ses_1/turns', { body, timeoutMs: 100 })
    expect(requests).toBe(1)
    server.close()
    server.closeAllConnections()
  })
})
