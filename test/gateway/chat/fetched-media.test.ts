import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Route } from '#gateway/call/routes.ts'
import { hasMediaToFetch, withFetchedMedia } from '#gateway/chat/preparing/fetched-media.ts'
import { openSsrfGuard, type SsrfGuard } from '#outgoing/ssrf-guard.ts'
import { pngOf } from '../vision/vision-world.ts'
import { type ChatWorld, caller, goodAnswer, hello, json, openChatWorld } from './chat-world.ts'

/* A server in the operator's network could fetch what a caller cannot reach, so it is sent data. */

const shown = (part: object) => ({ ...hello, messages: [{ role: 'user', content: [part] }] })
const image = (url: string) => shown({ type: 'image_url', image_url: { url } })
const png = `data:image/png;base64,${pngOf(4, 4).toString('base64')}`

describe("a chat with a server of the operator's", () => {
  let world: ChatWorld
  beforeEach(async () => {
    world = await openChatWorld()
    world.first.script(json(goodAnswer))
  })
  afterEach(() => world.close())

  it.each([
    ['at the address of the metadata service', 'https://169.254.169.254/latest/meta-data'],
    ['at an address in another notation', 'https://0x7f.1/'],
    ['under a name of this machine', 'https://localhost/'],
    ['under a name that leads to a private address', 'https://127.0.0.1.nip.test/'],
    ['without encryption', 'http://pictures.example/a.png'],
  ])('does not send it the URL of an image %s, in any form', async (_, url) => {
    for (const stream of [false, true]) {
      const { error } = await world.request({ body: { ...image(url), stream }, stream })
      expect([error?.code, error?.details.param]).toEqual(['bad_request', 'messages[0].content[0].image_url.url'])
    }
    expect(world.first.received).toEqual([])
  })

  it('refuses the URLs of parts that it cannot fetch, and passes data on as it is', async () => {
    const parts = [
      { type: 'video_url', video_url: { url: 'https://10.0.0.1/' } },
      { type: 'audio_url', audio_url: 'https://10.0.0.1/' },
      { type: 'file', file: { file_url: 'https://10.0.0.1/' } },
    ]
    for (const part of parts)
      expect((await world.request({ body: shown(part) })).error?.code, part.type).toBe('invalid_field')
    expect(world.first.received).toEqual([])
    const text = JSON.stringify(image(png))
    expect((await world.request({ text })).error).toBeNull()
    expect(world.first.received[0]?.body).toEqual(JSON.parse(text))
  })

  it('sends URLs to the published address of a provider, and to a public server of a project', () => {
    const guard = openSsrfGuard({ allowedPrivateHosts: ['vllm.internal', '10.1.2.3:8000'] })
    const request = { ...world.requestOf({ body: image('https://pictures.example/a.png') }), caller }
    const isSent = (source: Route['source'], provider: string, baseUrl: string) =>
      !hasMediaToFetch(request, world.routeTo({ url: '' }, { source, provider, baseUrl }), { guard, remote: { guard } })
    expect([
      isSent('managed', 'openai', 'https://api.openai.com/v1'),
      isSent('byok', 'openai', 'https://proxy.example/v1'),
      isSent('managed', 'openai', 'https://vllm.corp.example/v1'),
      isSent('managed', 'vllm', 'http://localhost:8000/v1'),
      isSent('custom', 'custom:1', 'http://vllm.internal/v1'),
      isSent('byok', 'openai', 'http://10.1.2.3:8000/v1'),
    ]).toEqual([true, true, false, false, false, false])
  })
})

describe('an image that is fetched', () => {
  let guard: SsrfGuard
  let received: string[]
  const serving = async (answer: RequestListener) => {
    const server = createServer((request, response) => {
      received.push(request.url ?? '')
      answer(request, response)
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const { port }: AddressInfo = Object(server.address())
    return { host: `127.0.0.1:${port}`, close: () => server.close() }
  }
  afterEach(() => guard.close())

  it.each([
    ['a private address', 'http://10.0.0.1/', 302],
    ['this machine', 'http://127.0.0.1:1/', 307],
    ['a name that leads to a private address', 'https://rebound.test/', 308],
    ['a file', 'file:///etc/passwd', 301],
  ])('is refused when it redirects to %s', async (_, location, status) => {
    received = []
    const { host, close } = await serving((_request, response) => response.writeHead(status, { location }).end())
    guard = openSsrfGuard({
      allowedPrivateHosts: [],
      allowedContentHosts: [host],
      lookup: (_name, _options, found) => found(null, [{ address: '127.0.0.1', family: 4 }]),
    })
    // what tests reach by TLS is reached here without
    const remote = {
      guard: {
        check: guard.content.check,
        request: (url: string, init: Parameters<SsrfGuard['request']>[1]) =>
          guard.content.request(url.replace(`https://${host}`, `http://${host}`), init),
      },
    }
    const route: Route = {
      model: 'm',
      provider: 'vllm',
      format: 'openai',
      baseUrl: 'http://x/v1',
      apiKey: null,
      source: 'managed',
      connectionId: null,
    }
    const input = {
      body: image(`https://${host}/a.png`),
      bytes: null,
      stream: false,
      caller,
      operation: 'x',
      need: 'chat',
    } as const
    const refused = withFetchedMedia(input, route, { remote, run: { isOver: false } })
    await expect(refused).rejects.toMatchObject({
      code: 'bad_request',
      details: { param: 'messages[0].content[0].image_url.url' },
    })
    expect(received).toEqual(['/a.png'])
    close()
  })
})
